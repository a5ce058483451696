"""The e-mail to the people who may approve a call."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.mail import EmailMessage
from django.utils import translation
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _
from rest_framework.exceptions import PermissionDenied

from drf_mcp.contrib.rules.proposal_store import PERMISSION, ProposalStore
from drf_mcp.contrib.rules.proposing import show_to
from drf_mcp.contrib.tasks.run import find_backend
from drf_mcp.exceptions import attempt
from drf_mcp.features import mcp_settings

logger = logging.getLogger("drf_mcp")
BACKEND = "django.contrib.auth.backends.ModelBackend"


def tell_approvers(proposal: Any, **kwargs: Any) -> None:
    """Send the mails of a proposal that waits; where the project has workers, one of them does."""
    if find_backend() is None:
        send_mails(proposal.pk)
    else:
        sending = import_string("drf_mcp.contrib.rules.work.mail_approvers")
        sending.using(backend=mcp_settings.TASKS_BACKEND).enqueue(proposal.pk)


def send_mails(proposal_id: str) -> None:
    """Send what is asked to each approver, with the objects as that approver may read them."""
    store = ProposalStore()
    row = store.rows.filter(pk=proposal_id).first()
    users: Any = get_user_model()._default_manager
    # Only the project knows the tenant of a user, and its user model may lack `with_perm`.
    if row is None or row.tenant or not hasattr(users, "with_perm"):
        return
    addresses: dict[str, list[str]] = {}
    with translation.override(settings.LANGUAGE_CODE):
        for user in users.with_perm(PERMISSION, backend=BACKEND).exclude(email=""):
            with suppress(PermissionDenied):
                store.check_approver(row, user)
                addresses.setdefault("\n".join(_write_lines(row, user)), []).append(user.email)
        names = {"title": row.title, "user": row.user_label}
        subject = _("To be approved: %(title)s, for %(user)s") % names
    for text, bcc in addresses.items():
        attempt(EmailMessage(subject, text, bcc=bcc).send, otherwise=_report_unsent)


def _report_unsent(exc: Exception) -> None:
    logger.error("The approvers of a call got no e-mail: %s", exc)


def _write_lines(row: Any, user: Any) -> Iterator[str]:
    names = {"title": row.title, "user": row.user_label}
    said = _("%(user)s asks for a call: %(title)s.") % names
    yield f"{' '.join(filter(None, [said, row.reason, row.message]))}\n"
    yield from (f"{name}: {value}" for name, value in row.shown_arguments)
    for each in attempt(lambda: show_to(row, user), []):
        yield f"\n{each['object']}"
        yield from (f"{name}: {value}" for name, value in each.get("shown", {}).items())
    yield f"\n{row.link or f'manage.py mcp_proposals show {row.pk}'}"
