"""From a mechanism to a question, and from a question to the problem an engine solves; imports `scenarios` and what that imports."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
