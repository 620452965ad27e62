from .engine_protocol import Engine, EngineRequest
from .engine_registry import ENGINES
from .search_monitor import Monitor, Progress

__all__ = ["ENGINES", "Engine", "EngineRequest", "Monitor", "Progress"]
