"""Evidence that is a word, or a set of words: both probabilities are recomputed from the definition and compared.

**Word.** If ``P(w) > e^epsilon Q(w) + delta`` for one compared word w of one ordered pair, the claim is refuted,
pointwise and over events (the event {w}).

**Event.** If E is a set of words of one outcome space and ``P(E) > e^epsilon Q(E) + delta``, the claim over events is
refuted. The outcome spaces are

* endings ``any``: for every compared length k, the words of length k;
* endings ``complete``: the complete words of all compared lengths together (a run completes once);
* endings ``visible``: for every compared length k, the complete words shorter than k and all words of length k.

Where an adversary chooses inputs, it chooses the next ones by a function of the outputs seen so far, so all words of
E that share an output prefix must read the same next inputs: then P(E) and Q(E) are probabilities under one
adversary.
"""

from __future__ import annotations

from dataclasses import dataclass

from privproof_checker.claims import as_rational
from privproof_checker.numbers import ONE, ZERO, Rational
from privproof_checker.outcomes import Accepted, Limits, refuse, within
from privproof_checker.plain_documents import a_list, a_number, a_text, an_integer, an_object, text
from privproof_checker.systems import (
    Letter,
    Question,
    Start,
    final_of,
    matching_starts,
    on_common_denominator,
    product,
    read_letter,
    total,
)


@dataclass(frozen=True)
class Found:
    """A word with both probabilities, and how it ends.

    Attributes:
        grown: by how much the claim grows with the inputs of the word.
    """

    letters: tuple[Letter, ...]
    ending: str
    left: Rational
    right: Rational
    grown: Rational = ONE

    @property
    def compared(self) -> tuple[Rational, Rational]:
        """What the claim compares: both probabilities, the right one times what the claim grows by."""
        return self.left, self.right * self.grown

    def ratio(self) -> str:
        """The ratio in words."""
        return text(self.left / self.right) if self.right != 0 else "infinite"


def probabilities(question: Question, start: Start, letters: tuple[Letter, ...], ending: str) -> Found | None:
    """Both probabilities of a word; None where it is not a word of the question that may end so."""
    system = question.system
    scale, (left, right) = on_common_denominator(start.left, start.right)
    location = start.location
    for letter in letters:
        edge = system.edge(location, letter)
        if edge is None:
            return None
        left, right = product(left, edge.left), product(right, edge.right)
        location, scale = edge.target, scale * edge.scale
    final = final_of(question, location, ending)
    if final is None:
        return None
    counted = final.counted
    grown = question.claim.rate ** sum(letter.left is not None for letter in letters)
    one, other = as_rational(total(left, counted), scale), as_rational(total(right, counted), scale)
    return Found(letters, ending, one, other / grown, grown)


def read_word(value: object, place: str, limits: Limits) -> tuple[Letter, ...]:
    """A word in a certificate."""
    listed = a_list(value, place)
    within(len(listed), limits.horizon, "letters", place)
    return tuple(read_letter(item, f"{place}[{i}]") for i, item in enumerate(listed))


def check_word(question: Question, value: object, place: str, limits: Limits) -> Found:
    """A word with the probabilities that its evidence states, recomputed.

    Refuses a pair or a word that the question does not compare, and probabilities that are not the right ones.
    """
    given = an_object(value, place)
    letters = read_word(given.get("word"), f"{place}.word", limits)
    default = "complete" if question.ending == "complete" else "any"
    ending = a_text(given.get("ending", default), f"{place}.ending")
    if not _is_compared(question, len(letters), ending):
        refuse(f"words of length {len(letters)} with the ending {ending[:40]!r} are not compared", f"{place}.word")
    for start in matching_starts(question, given, place, limits):
        found = probabilities(question, start, letters, ending)
        if found is not None:
            break
    else:
        refuse("the word is not among the compared ones", f"{place}.word")
    for side, value_found in (("left_probability", found.left), ("right_probability", found.right)):
        if a_number(given.get(side), f"{place}.{side}", limits) != value_found:
            refuse(f"the probability is {text(value_found)}", f"{place}.{side}")
    return found


def _is_compared(question: Question, length: int, ending: str) -> bool:
    """Whether a word of this length that ends so is an outcome that the question compares."""
    horizon = question.horizon
    if question.claim.events and question.ending == "visible" and ending == "complete":
        return length >= 1 and horizon.goes_on(length)
    return horizon.counts(length)


def refuted_by_word(question: Question, evidence: dict[str, object], limits: Limits) -> Accepted:
    """Check a refutation by one word."""
    found = check_word(question, evidence, "evidence", limits)
    if question.claim.holds(*found.compared):
        refuse(f"the word does not violate the claim: {text(found.left)} against {text(found.right)}", "evidence.word")
    statement = (
        f"not private with {question.claim}: the word {word_text(found.letters)} has probability {text(found.left)} "
        f"on the left and {text(found.right)} on the right (ratio {found.ratio()}); compared: {question.described}"
    )
    details = {
        "method": "word",
        "length": len(found.letters),
        "left_probability": str(found.left),
        "right_probability": str(found.right),
        "ratio": found.ratio(),
    }
    return Accepted("refuted", statement, details, lower=question.claim.needs(*found.compared))


def refuted_by_event(question: Question, evidence: dict[str, object], limits: Limits) -> Accepted:
    """Check a refutation by a set of words."""
    if question.claim.pointwise and question.claim.delta != 0:
        refuse("a claim for each output is not refuted by an event", "evidence.method")
    listed = a_list(evidence.get("words"), "evidence.words")
    within(len(listed), limits.words, "words", "evidence.words")
    words = [read_word(item, f"evidence.words[{i}]", limits) for i, item in enumerate(listed)]
    if not words:
        refuse("the event is empty", "evidence.words")
    if len({tuple(letter.output for letter in word) for word in words}) < len(words):
        refuse("two words write the same outputs", "evidence.words")
    _one_adversary(words)
    left, right = _sums(question, evidence, words, limits)
    for side, number in (("left_probability", left), ("right_probability", right)):
        if side in evidence and a_number(evidence[side], f"evidence.{side}", limits) != number:
            refuse(f"the probability is {text(number)}", f"evidence.{side}")
    if question.claim.holds(left, right):
        refuse(f"the event does not violate the claim: {text(left)} against {text(right)}", "evidence.words")
    statement = (
        f"not private with {question.claim}: an event of {len(words)} words has probability {text(left)} on the left "
        f"and {text(right)} on the right; compared: {question.described}"
    )
    details = {"method": "event", "words": len(words), "left_probability": str(left), "right_probability": str(right)}
    return Accepted("refuted", statement, details, lower=question.claim.needs(left, right))


def _sums(
    question: Question, evidence: dict[str, object], words: list[tuple[Letter, ...]], limits: Limits
) -> tuple[Rational, Rational]:
    """The probabilities of an event in its outcome space.

    The space is the one of the member ``length``.  Without it, it is that of the longest word; and where that does not
    violate the claim and halting is visible, the next one, in which all the words are complete.
    """
    longest = max(max(len(word) for word in words), question.horizon.low)
    spaces = [longest, longest + 1] if question.ending == "visible" and question.horizon.goes_on(longest) else [longest]
    if "length" in evidence:
        spaces = [an_integer(evidence["length"], "evidence.length")]
    starts = matching_starts(question, evidence, "evidence", limits)
    sums: list[tuple[Rational, Rational]] = []
    for space in spaces:
        endings = [_outcome(question, len(word), space, f"evidence.words[{i}]") for i, word in enumerate(words)]
        for start in starts:
            found = [probabilities(question, start, word, end) for word, end in zip(words, endings, strict=True)]
            complete = [one for one in found if one is not None]
            if len(complete) == len(words):
                compared = [one.compared for one in complete]
                sums.append((sum((p for p, _ in compared), ZERO), sum((q for _, q in compared), ZERO)))
    if not sums:
        refuse("a word is not among the compared ones", "evidence.words")
    return next((pair for pair in sums if not question.claim.holds(*pair)), sums[0])


def _one_adversary(words: list[tuple[Letter, ...]]) -> None:
    """Refuse words whose inputs are not a function of the outputs before them."""
    chosen: dict[tuple[str | None, ...], tuple[str | None, str | None]] = {}
    for i, word in enumerate(words):
        outputs = tuple(letter.output for letter in word)
        for t, letter in enumerate(word):
            inputs = (letter.left, letter.right)
            if chosen.setdefault(outputs[:t], inputs) != inputs:
                refuse("after the same outputs another word reads other inputs", f"evidence.words[{i}][{t}]")


def _outcome(question: Question, length: int, space: int, place: str) -> str:
    """How a word of a length ends as an outcome of the space of `space`; refuses a word that is none."""
    horizon = question.horizon
    match question.ending:
        case "complete":
            if horizon.counts(length):
                return "complete"
        case "visible":
            if horizon.counts(space) and 1 <= length <= space:
                return "complete" if length < space else "any"
        case _:
            if horizon.counts(space) and length == space:
                return "any"
    refuse("the word is no outcome of the space", place)


def word_text(letters: tuple[Letter, ...]) -> str:
    """A word in words, shortened if it is long."""
    texts = [str(letter) for letter in letters[:20]]
    return " ".join(texts) + (f" ... ({len(letters)} letters)" if len(letters) > 20 else "")


def attains_bound(question: Question, found: Found) -> bool:
    """Whether the word reaches ``P = e^epsilon Q`` exactly, with delta = 0: then no smaller epsilon holds."""
    claim = question.claim
    left, right = found.compared
    return claim.delta == 0 and right != 0 and left != 0 and claim.sign(left, right * ONE) == 0
