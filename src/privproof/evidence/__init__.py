"""Verdicts, witnesses and certificates; imports `compiling`, `formats` and the checker, but no engine."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
