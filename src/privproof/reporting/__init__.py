"""Verdicts for readers: text, JSON and HTML; imports `evidence` and computes nothing."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
