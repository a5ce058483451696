"""The functions that a worker runs. They are imported only where the project has a backend."""

from __future__ import annotations

from drf_mcp.contrib.rules import mail
from drf_mcp.contrib.rules.proposing import run_proposal
from drf_mcp.contrib.tasks.run import find_framework
from drf_mcp.features import mcp_settings


@find_framework().task(backend=mcp_settings.TASKS_BACKEND)  # type: ignore[untyped-decorator]
def make_call(proposal_id: str) -> None:
    """Make the call of an approved proposal, unless another process does."""
    run_proposal(proposal_id)


@find_framework().task(backend=mcp_settings.TASKS_BACKEND)  # type: ignore[untyped-decorator]
def mail_approvers(proposal_id: str) -> None:
    """Tell the approvers of a proposal that it waits."""
    mail.send_mails(proposal_id)
