"""Verdicts, witnesses and certificates; imports the engines' findings, and `checker` nothing but `exact`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
