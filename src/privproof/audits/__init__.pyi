from .audit_findings import Audit
from .audit_request import audit

__all__ = ["Audit", "audit"]
