"""Sampling: many independent runs of a mechanism at once, and what they say; imports `compiling` and `language`, and no other engine."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
