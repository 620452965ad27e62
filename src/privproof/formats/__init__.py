"""Files in and out (model files, their schema, drawings): imports `models` and `scenarios`; whatever reads, writes or draws imports it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
