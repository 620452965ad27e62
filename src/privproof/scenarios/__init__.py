"""Who must not be told apart: pairs of distributions, neighbour relations, words; imports `models`, `formulas` and `language`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
