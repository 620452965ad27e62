"""Files in and out (model files, their schema, drawings): imports `scenarios` and above; `cli` and users import it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
