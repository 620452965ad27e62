"""Models in the PRISM language: imports `models` and the documents of `formats`, which imports it.

The language is described at https://www.prismmodelchecker.org/manual/ThePRISMLanguage; read are ``dtmc`` and ``mdp`` models.
PRISM knows no neighbour relation; lines ``//@ neighbours A ~ B``, which PRISM takes for comments, give it.
"""

from privproof.logic.prism.prism_model import PrismModel, explore, neighbours_from, parse_prism, read_prism
from privproof.logic.prism.prism_writing import write_prism

__all__ = ["PrismModel", "explore", "neighbours_from", "parse_prism", "read_prism", "write_prism"]
