"""What audits bring: a command, and findings that show themselves."""

from privproof.capabilities import Capability, Command, Shown

CAPABILITY = Capability(
    "audit",
    commands={
        "audit": Command(
            "audits.audit_command",
            "Test a mechanism by running it, then certify exactly what was found: real or spurious.",
        )
    },
    shown={"audits.audit_findings.Audit": Shown("audits.audit_cards:audit_card", "audits.audit_cards:audit_text")},
    held={"audits.sampling.runnable_functions.Runnable": "subject"},
)
