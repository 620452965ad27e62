from .engine_protocol import Engine, Request
from .engine_registry import ENGINES
from .search_monitor import Monitor, Progress

__all__ = ["ENGINES", "Engine", "Monitor", "Progress", "Request"]
