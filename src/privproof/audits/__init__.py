"""Audits: a mechanism is run many times, and what the runs say is certified exactly where that can be done."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
