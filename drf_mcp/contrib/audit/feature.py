from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import apps
from django.utils.translation import ngettext_lazy

from drf_mcp.features import CallState, Feature, Guard, Safeguard
from drf_mcp.option_types.installed import Setting
from drf_mcp.option_types.kinds import Flag, Number
from drf_mcp.protocol.capability import MessageObserver


def get_auditor() -> Any:
    """Return what keeps the records, None where the settings of tests keep none."""
    config: Any = apps.app_configs["drf_mcp_audit"]
    return config.auditor


def expire_audit() -> int | None:
    """Delete the records that AUDIT_RETENTION does not keep, and return their number."""
    auditor = get_auditor()
    return None if auditor is None else auditor.expire()


class AuditFeature(Feature):
    """Keeps a record of calls, and of callers who are not let in."""

    settings = {
        # True records each call before it is made, completes the record after it, and refuses a
        # call that cannot be recorded. False records a call that is over. See docs/audit.md.
        "AUDIT_STRICT": Setting(False, Flag()),
        # Days after which `manage.py mcp_expire` deletes the records of calls. None: never.
        "AUDIT_RETENTION": Setting(None, Number(none=True)),
    }

    expires = {
        "audited_calls": (
            "drf_mcp.contrib.audit.feature.expire_audit",
            ngettext_lazy(
                "Deleted %(count)d audited call.", "Deleted %(count)d audited calls.", "count"
            ),
        )
    }

    def observe(self, message: Any, caller: Any) -> MessageObserver | None:
        auditor = get_auditor()
        return auditor and auditor.open(message, caller)  # type: ignore[no-any-return]

    def flush(self) -> None:
        auditor = get_auditor()
        if auditor is not None:
            auditor.flush()

    def get_guards(self, call: CallState) -> Sequence[Guard]:
        from drf_mcp.contrib.audit.recording import RecordGuard
        from drf_mcp.settings import mcp_settings

        return [RecordGuard()] if mcp_settings.AUDIT_STRICT else ()

    def get_safeguards(self, tool: Any) -> Sequence[Safeguard]:
        return [Safeguard("audit", "audit", get_auditor() is not None, order=700)]
