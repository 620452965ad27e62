"""What audits bring: a command, and findings that show themselves."""

from privproof.capabilities import Capability, Command, Shown

CAPABILITY = Capability(
    "audit",
    commands={
        "audit": Command(
            "audit.audit_command",
            "Test a mechanism by running it, then certify exactly what was found: real or spurious.",
        )
    },
    shown={"audit.audit_findings.Audit": Shown("audit.audit_cards:audit_card", "audit.audit_cards:audit_text")},
    held={"audit.sampling.runnable_functions.Runnable": "subject"},
)
