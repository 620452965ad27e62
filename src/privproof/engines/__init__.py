"""Engines: each answers one kind of question about a compiled problem.

They import `evidence` without its checker, and what that imports; they never print.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
