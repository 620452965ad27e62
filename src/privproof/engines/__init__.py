"""Engines: each answers one kind of question about a compiled problem; they import `compiling` and what is above it, and never print."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
