from drf_mcp.contrib.audit.apps import AuditConfig


class SilentAuditConfig(AuditConfig):
    """Has its table, but records nothing except in the case that measures the cost of records."""

    auditor_class = ""
