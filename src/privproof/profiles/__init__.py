"""The privacy profile of finite mechanisms: delta for every epsilon, Rényi divergences, privacy loss.

Imports the engine of continuous noise, and what every engine imports.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
