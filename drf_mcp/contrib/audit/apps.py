"""The app that keeps a record of calls; its place in INSTALLED_APPS switches it on."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.apps import AppConfig
from django.utils.module_loading import import_string
from django.utils.translation import gettext_lazy as _


class AuditConfig(AppConfig):
    """Subclass it, and name the subclass in INSTALLED_APPS, to choose another auditor.

    Attributes:
        auditor_class: the dotted path of an `drf_mcp.contrib.audit.auditor.Auditor`; "" records
            nothing, as settings of tests may want it.
    """

    name = "drf_mcp.contrib.audit"
    label = "drf_mcp_audit"
    verbose_name = _("MCP audit")
    default_auto_field = "django.db.models.BigAutoField"
    auditor_class = "drf_mcp.contrib.audit.auditor.Auditor"
    mcp_features = ("drf_mcp.contrib.audit.recording.AuditFeature",)

    def ready(self) -> None:
        # The module needs no models, and a signal is received by the main thread alone.
        from drf_mcp.contrib.audit.auditor import flush_at_signal

        flush_at_signal()

    @cached_property
    def auditor(self) -> Any:
        return import_string(self.auditor_class)() if self.auditor_class else None
