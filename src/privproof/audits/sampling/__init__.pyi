from .output_samples import Samples
from .program_lanes import sample
from .runnable_functions import Runnable, runnable

__all__ = ["Runnable", "Samples", "runnable", "sample"]
