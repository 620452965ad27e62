"""Verdicts for readers: text, JSON and HTML.

Imports what it tells about: `evidence`, `engines.logic`, `profiles`, `release`; computes nothing.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
