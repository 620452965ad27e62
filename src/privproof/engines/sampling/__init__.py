"""Sampling: many independent runs of a mechanism at once, and what they say; imports `language` and what `compiling` says about lists."""

from privproof.engines.sampling.lanes import sample
from privproof.engines.sampling.runnable import Runnable, runnable
from privproof.engines.sampling.samples import Samples

__all__ = ["Runnable", "Samples", "runnable", "sample"]
