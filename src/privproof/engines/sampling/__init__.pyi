from .lanes import sample
from .runnable import Runnable, runnable
from .samples import Samples

__all__ = ["Runnable", "Samples", "runnable", "sample"]
