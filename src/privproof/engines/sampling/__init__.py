"""Sampling: many independent runs of a mechanism at once; imports `language`, and of `compiling` only what it says about lists."""

from privproof.engines.sampling.lanes import sample
from privproof.engines.sampling.samples import Samples

__all__ = ["Samples", "sample"]
