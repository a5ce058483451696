"""Calls that were approved, made by a worker or the terminal as their callers."""

from __future__ import annotations

import logging
from typing import Any

from django.db import transaction
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _

from drf_mcp.contrib.rules import ledger as states
from drf_mcp.contrib.rules.ledger import ProposalLedger
from drf_mcp.contrib.tasks.backends import find_backend
from drf_mcp.contrib.tasks.credentials import CallerGone
from drf_mcp.contrib.tasks.run import GONE, answer_again, make_error, make_request
from drf_mcp.exceptions import contain
from drf_mcp.settings import mcp_settings, override_language

logger = logging.getLogger("drf_mcp")


def run_proposal(proposal_id: str) -> Any:
    """Make the call of an approved proposal, unless another process does.

    Returns the proposal, None where there is nothing to make.
    """
    ledger = ProposalLedger()
    row = ledger.rows.filter(pk=proposal_id, request__isnull=False).first()
    if row is None or not ledger.begin(row):
        return None
    try:
        request = make_request(row.request, row.owner)
    except CallerGone:
        ledger.finish(row, make_error(GONE, _("The caller is no longer let in.")))
        return row
    request.mcp_proposal = row  # type: ignore[attr-defined]
    with override_language():
        answer = answer_again(request)
    # A guard further out, or middleware, may have answered.
    row.refresh_from_db()
    ledger.finish(row, answer, row.terms)
    return row


def find_approved() -> list[str]:
    """Return the ids of the proposals that a worker can make."""
    rows = ProposalLedger().rows.filter(status=states.APPROVED, request__isnull=False)
    return list(rows.order_by("updated").values_list("pk", flat=True))


def enqueue(row: Any) -> None:
    """Leave an approved call to a worker; without one `mcp_proposals run` makes it."""
    if row.status != states.APPROVED or row.request is None or find_backend() is None:
        return
    make_call = import_string("drf_mcp.contrib.rules.work.make_call")

    def send() -> None:
        sending = make_call.using(backend=mcp_settings.TASKS_BACKEND)
        contain(lambda: sending.enqueue(row.pk), report_waiting)

    transaction.on_commit(send, using=row._state.db)


def report_waiting(exc: Exception) -> None:
    logger.error("An approved call waits for `mcp_proposals run`", exc_info=exc)
