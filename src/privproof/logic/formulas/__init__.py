"""Formulas of dpCTL* as frozen data, their text, and their sublogics: imports `errors` and `exact` and nothing else of the package."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
