from .engine import Engine, Request
from .monitor import Monitor, Progress
from .registry import ENGINES

__all__ = ["ENGINES", "Engine", "Monitor", "Progress", "Request"]
