"""Models in the PRISM language: imports `models` and the documents of `formats`, which imports it.

The language is described at https://www.prismmodelchecker.org/manual/ThePRISMLanguage; read are ``dtmc`` and ``mdp`` models.
PRISM knows no neighbour relation; lines ``//@ neighbours A ~ B``, which PRISM takes for comments, give it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
