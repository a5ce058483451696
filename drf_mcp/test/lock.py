"""The tools of a project held against its lock file."""

from __future__ import annotations

from pathlib import Path

from drf_mcp.operators.lock import LOCK_FILE, SurfaceLock


def assert_tool_surface(lock: str | Path = LOCK_FILE) -> None:
    """Assert that no agent that works with the locked tools would stop working.

    Args:
        lock: the lock file, as ``mcp_tools --lock`` writes it.

    Raises:
        AssertionError: naming every breaking change.
        LockFileError: if the file cannot be read.
    """
    breaking = [str(change) for change in SurfaceLock(lock).get_changes() if change.breaking]
    if breaking:
        changes = "\n  ".join(breaking)
        raise AssertionError(
            f"The tools differ from {lock}:\n  {changes}\n"
            f"If that is meant: python manage.py mcp_tools --lock {lock}"
        )
