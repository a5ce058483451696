"""One row for each call of a tool, and for each caller who was not let in."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from drf_mcp.json_text import parse_json_text


class Verdict(models.TextChoices):
    """What became of a call.

    Without an answer the call may have been made: its process ended before the answer did, or the
    row could not be completed.
    """

    SUCCESS = "success", _("success")
    SOFT_FAILURE = "soft_failure", _("soft failure")
    ASKED = "asked", _("asked first")
    FAILED = "failed", _("failed")
    DENIED = "denied", _("denied at the door")
    UNANSWERED = "unanswered", _("without an answer")


class AuditedCall(models.Model):
    """A call, by whom and with what, and what became of it.

    The user is named, not referred to: a row outlives its user, and may be in another database.
    """

    time = models.DateTimeField(_("time"), db_index=True)
    user_pk = models.CharField(_("user's primary key"), max_length=64, blank=True)
    user_label = models.CharField(_("user"), max_length=150, blank=True)
    credential = models.CharField(_("authentication class"), max_length=100, blank=True)
    token_prefix = models.CharField(_("prefix of the token"), max_length=40, blank=True)
    oauth_client = models.CharField(_("OAuth client"), max_length=100, blank=True)
    client_name = models.CharField(_("client"), max_length=80, blank=True)
    client_version = models.CharField(_("version of the client"), max_length=40, blank=True)
    user_agent = models.CharField(_("user agent"), max_length=200, blank=True)
    # Of callers without a valid credential, whose messages are counted by address.
    address = models.CharField(_("address"), max_length=64, blank=True)
    messages = models.PositiveIntegerField(_("messages"), default=1)
    endpoint = models.CharField(_("path of the endpoint"), max_length=200, blank=True)
    method = models.CharField(_("MCP method"), max_length=64, blank=True)
    tool = models.CharField(_("tool"), max_length=64, blank=True)
    # Text, since databases differ in which JSON they refuse: no argument may keep a row out.
    arguments = models.TextField(_("arguments"), blank=True)
    # Why the agent made the call, as it says.
    intent = models.CharField(_("intent"), max_length=500, blank=True)
    # What it looked for and the endpoint does not have: a tool, or words of a search.
    wanted = models.CharField(_("wanted"), max_length=200, blank=True)
    verdict = models.CharField(
        _("verdict"), max_length=20, choices=Verdict.choices, default=Verdict.UNANSWERED
    )
    is_trial = models.BooleanField(_("dry run"), default=False)
    code = models.CharField(_("error code"), max_length=64, blank=True)
    # The argument that was wrong, as a JSON pointer, and what was said about it.
    argument = models.CharField(_("argument"), max_length=200, blank=True)
    sentence = models.CharField(_("sentence"), max_length=300, blank=True)
    status = models.PositiveSmallIntegerField(_("HTTP status"), null=True)
    rows_changed = models.PositiveBigIntegerField(_("rows changed"), null=True)
    request_id = models.CharField(_("request id"), max_length=64, blank=True, db_index=True)
    duration_ms = models.FloatField(_("milliseconds"), null=True)
    result_tokens = models.PositiveIntegerField(_("tokens of the result"), null=True)

    class Meta:
        verbose_name = _("audited call")
        verbose_name_plural = _("audited calls")
        indexes = [
            models.Index(fields=["user_pk", "time"], name="drf_mcp_audit_user"),
            models.Index(fields=["tool", "time"], name="drf_mcp_audit_tool"),
        ]

    def __str__(self) -> str:
        return f"{self.tool or self.method} {self.verdict} {self.request_id}".strip()

    @classmethod
    def count_wanted(cls, rows: models.QuerySet[AuditedCall]) -> Any:
        """Return the last of some rows for each wanted thing, with ``times`` and ``users``."""
        wanted = rows.exclude(wanted="").order_by()
        last = wanted.values("wanted").annotate(last=models.Max("pk")).values("last")
        same = wanted.filter(wanted=models.OuterRef("wanted")).values("wanted")
        users = models.Count("user_pk", distinct=True)
        return rows.filter(pk__in=last).annotate(
            times=models.Subquery(same.annotate(times=models.Count("pk")).values("times")),
            users=models.Subquery(same.annotate(users=users).values("users")),
        )

    def as_data(self) -> dict[str, Any]:
        """Return the row as JSON values, the arguments as they were sent but for secrets."""
        names = (field.attname for field in self._meta.concrete_fields)
        data = {name: getattr(self, name) for name in names}
        arguments = parse_json_text(parse_json_text(self.arguments, dict), list)
        return {**data, "time": self.time.isoformat(), "arguments": arguments}


class WantedTool(AuditedCall):
    """What agents looked for and did not find."""

    class Meta:
        proxy = True
        verbose_name = _("wanted tool")
        verbose_name_plural = _("wanted tools")
