"""Verdicts, witnesses and certificates; imports `compiling` and `formats` but no engine, and `checker` nothing of the package."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
