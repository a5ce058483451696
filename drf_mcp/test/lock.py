from __future__ import annotations

from pathlib import Path

from django.utils.translation import override

from drf_mcp.contrib.operators.lock import LOCK_FILE, SurfaceLock


def assert_tool_surface(lock: str | Path = LOCK_FILE) -> None:
    """Assert that no agent that works with the tools of a lock file would stop working."""
    # What tests say of a failure is English, as Python's own words are.
    with override(None):
        breaking = [str(change) for change in SurfaceLock(lock).get_changes() if change.breaking]
    if breaking:
        changes = "\n  ".join(breaking)
        raise AssertionError(
            f"The tools differ from {lock}:\n  {changes}\n"
            f"If that is meant: python manage.py mcp_tools --lock {lock}"
        )
