from .prism_model import PrismModel, explore, neighbours_from, parse_prism
from .prism_writing import write_prism

__all__ = ["PrismModel", "explore", "neighbours_from", "parse_prism", "write_prism"]
