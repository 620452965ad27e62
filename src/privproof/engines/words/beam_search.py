"""A quick look for a word with a large ratio: a beam search in floating point, its result evaluated exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from privproof.exact.rational_matrices import Matrix
from privproof.models import Letter, Word, WordProblem

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_WIDTH = 60
"""So many vectors are kept at each location and length, half by each measure; the others are forgotten, which costs words only."""
_DENSE_ENTRIES = 10_000
"""Matrices with more entries are kept sparse; smaller ones need no scipy, which is slow to import."""
_WORTH = 1e-9
"""A longer word has to be better by this much, relatively."""


@dataclass
class _Beam:
    left: NDArray[np.float64]
    right: NDArray[np.float64]
    words: list[tuple[int, tuple[Letter, ...]]]


def _floats(matrix: Matrix) -> csr_array[np.float64] | NDArray[np.float64]:
    """The matrix in floating point; a large one by its entries that are not zero."""
    if len(matrix.rows) * matrix.columns <= _DENSE_ENTRIES:
        dense = np.zeros((len(matrix.rows), matrix.columns))
        for i, row in enumerate(matrix.rows):
            for j, entry in row:
                dense[i, j] = int(entry.p) / int(entry.q)
        return dense
    from scipy.sparse import csr_array  # here, because it is slow to import

    rows = [i for i, row in enumerate(matrix.rows) for _ in row]
    columns = [j for row in matrix.rows for j, _ in row]
    entries = [int(e.p) / int(e.q) for row in matrix.rows for _, e in row]
    return csr_array((entries, (rows, columns)), shape=(len(matrix.rows), matrix.columns))


def promising_word(problem: WordProblem, *, longest: int) -> Word | None:
    """A word with a large ratio among those of length up to `longest`; None if no word has a finite positive ratio."""
    matrices: dict[int, csr_array[np.float64] | NDArray[np.float64]] = {}
    beams: dict[int, _Beam] = {}
    for location in {start.location for start in problem.starts}:
        members = [(i, start) for i, start in enumerate(problem.starts) if start.location == location]
        beams[location] = _Beam(
            np.array([[int(x.p) / int(x.q) for x in s.left] for _, s in members]),
            np.array([[int(x.p) / int(x.q) for x in s.right] for _, s in members]),
            [(i, ()) for i, _ in members],
        )
    best: tuple[float, int, tuple[Letter, ...]] = (0.0, 0, ())
    for level in range(1, longest + 1):
        grown: dict[int, list[_Beam]] = {}
        for location, beam in beams.items():
            for edge in problem.locations[location].edges:
                for matrix in (edge.left, edge.right):
                    if id(matrix) not in matrices:
                        matrices[id(matrix)] = _floats(matrix)
                left: NDArray[np.float64] = np.asarray(beam.left @ matrices[id(edge.left)])
                right: NDArray[np.float64] = np.asarray(beam.right @ matrices[id(edge.right)])
                keep = (left.sum(axis=1) > 0) & (right.sum(axis=1) > 0)
                words = [(s, (*w, edge.letter)) for (s, w), k in zip(beam.words, keep, strict=True) if k]
                if words:
                    grown.setdefault(edge.target, []).append(_Beam(left[keep], right[keep], words))
        beams = {}
        for location, parts in grown.items():
            beam = _join_beams(parts)
            if problem.horizon.counts(level):
                for final in problem.locations[location].finals:
                    above = beam.left @ np.array([float(x.p) / float(x.q) for x in final.left])
                    below = beam.right @ np.array([float(x.p) / float(x.q) for x in final.right])
                    ratios = np.divide(above, below, out=np.zeros_like(above), where=below > 0)
                    top = int(ratios.argmax())
                    if ratios[top] > best[0] * (1 + _WORTH):
                        best = (float(ratios[top]), *beam.words[top])
            beams[location] = beam
        if not beams:
            break
    return problem.word(best[1], best[2]) if best[2] else None


def _join_beams(parts: list[_Beam]) -> _Beam:
    """The most promising vectors of several, scaled: the largest quotients of sums and the largest quotients of single entries."""
    left, right = np.vstack([p.left for p in parts]), np.vstack([p.right for p in parts])
    words = [word for part in parts for word in part.words]
    scale = np.maximum(left.max(axis=1), right.max(axis=1))[:, None]
    left, right = left / scale, right / scale
    if len(words) <= _WIDTH:
        return _Beam(left, right, words)
    sums = left.sum(axis=1) / right.sum(axis=1)
    single = (
        np.divide(left, right, out=np.zeros_like(left), where=right > 0).max(axis=1)
        if left.shape == right.shape
        else sums
    )
    chosen = np.unique(np.concatenate([np.argsort(-sums)[: _WIDTH // 2], np.argsort(-single)[: _WIDTH // 2]]))
    return _Beam(left[chosen], right[chosen], [words[int(i)] for i in chosen])
