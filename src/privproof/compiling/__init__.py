"""From a question to the problem an engine solves; imports `models` and `scenarios`."""

from privproof.compiling.lumping import Classes, Lumped, lump
from privproof.compiling.word_problems import Begin, Compiled, word_problem

__all__ = ["Begin", "Classes", "Compiled", "Lumped", "lump", "word_problem"]
