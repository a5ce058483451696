from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class CallTask(models.Model):
    """A call that a worker makes for its caller, until it expires."""

    class Status(models.TextChoices):
        WORKING = "working", _("Working")
        INPUT_REQUIRED = "input_required", _("Waiting for an answer")
        COMPLETED = "completed", _("Completed")
        FAILED = "failed", _("Failed")
        CANCELLED = "cancelled", _("Cancelled")

    task_id = models.CharField(_("task id"), max_length=64, primary_key=True)
    owner = models.CharField(_("owner"), max_length=255, blank=True)
    # Whom the bounds of tasks count.
    holder = models.CharField(_("holder"), max_length=64, blank=True)
    tool = models.CharField(_("tool"), max_length=64)
    status = models.CharField(_("status"), max_length=16, choices=Status.choices)
    message = models.TextField(_("message"), blank=True)
    is_cancelled = models.BooleanField(_("asked to stop"), default=False)
    created = models.DateTimeField(_("created"))
    updated = models.DateTimeField(_("updated"))
    started = models.DateTimeField(_("started"), null=True)
    # Until when a running call counts as alive; its worker writes it anew as long as it runs.
    leased = models.DateTimeField(_("alive until"), null=True)
    expires = models.DateTimeField(_("expires"), db_index=True)
    # What the call is made from again, until it has ended; what was asked; what came of it.
    request = models.JSONField(_("request"), default=dict)
    input_requests = models.JSONField(_("questions"), default=dict)
    answer = models.JSONField(_("answer"), null=True)
    terms = models.JSONField(_("rights that it is read by"), default=dict)

    class Meta:
        verbose_name = _("task")
        verbose_name_plural = _("tasks")
        indexes = [models.Index(fields=["holder"], name="drf_mcp_task_holder")]

    def __str__(self) -> str:
        return f"{self.tool} {self.task_id}"
