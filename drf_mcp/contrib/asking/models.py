from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class PendingQuestion(models.Model):
    """A question to the user of a client, for whose answer a call waits."""

    question_id = models.CharField(_("question id"), max_length=43, primary_key=True)
    # Whom the bound of questions counts.
    holder = models.CharField(_("holder"), max_length=64, db_index=True)
    # Hashes of the session, and of the id of the request that waits.
    session = models.CharField(_("session"), max_length=22)
    call = models.CharField(_("call"), max_length=64)
    # What the client sent: a list of one JSON value, none of them where it cannot ask.
    answer = models.JSONField(_("answer"), null=True)
    expires = models.DateTimeField(_("expires"), db_index=True)

    class Meta:
        verbose_name = _("open question")
        verbose_name_plural = _("open questions")

    def __str__(self) -> str:
        return self.question_id
