"""The mechanism language: mechanisms as Python functions, their inputs, their noise, and the representation of their source.

Imports `errors` and `exact` and nothing else of the package.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
