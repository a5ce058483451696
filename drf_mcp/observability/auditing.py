"""The seam of ``drf_mcp.contrib.audit``, which follows each message where it is installed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from django.apps import apps
from rest_framework.exceptions import APIException

from drf_mcp.protocol import Message

AUDIT_APP = "drf_mcp_audit"


def find_auditor() -> Any:
    config: Any = apps.app_configs.get(AUDIT_APP)
    return config and config.auditor


@contextmanager
def audit(auditor: Any, message: Any, caller: Any) -> Iterator[None]:
    caller.audit = followed = auditor.open(message, caller)
    try:
        yield
    except APIException as exc:
        followed.error = exc
        raise
    finally:
        # One way out for what was answered, refused and interrupted.
        followed.close()
        caller.audit = None


def audit_refusal(items: Iterable[Any], caller: Any, exc: Exception) -> None:
    """Record that a caller was not let in: once for each message, None for one not read."""
    if (auditor := find_auditor()) is None:
        return
    for item in items:
        if item is None or (isinstance(item, Message) and not item.is_notification):
            refused = auditor.open(item, caller)
            refused.error = exc
            refused.close()
