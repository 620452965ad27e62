"""Sampling: many independent runs of a mechanism at once, and what they say; imports `language` and what `compiling` says about lists."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
