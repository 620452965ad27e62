from .asking import audit
from .audits import Audit

__all__ = ["Audit", "audit"]
