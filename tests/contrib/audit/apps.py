from drf_mcp.contrib.audit.apps import AuditConfig


class SilentAuditConfig(AuditConfig):
    auditor_class = ""
