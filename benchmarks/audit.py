from drf_mcp.contrib.audit.apps import AuditConfig


class SilentAuditConfig(AuditConfig):
    """Has its table, and records nothing but in the case that measures what records cost."""

    auditor_class = ""
