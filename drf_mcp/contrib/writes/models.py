from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class UsedConfirmation(models.Model):
    """A confirmation that a call was made with, until it would have expired."""

    nonce = models.CharField(_("nonce"), max_length=32, primary_key=True)
    expires = models.DateTimeField(_("expires"), db_index=True)

    class Meta:
        verbose_name = _("used confirmation")
        verbose_name_plural = _("used confirmations")

    def __str__(self) -> str:
        return self.nonce


class IdempotencyRecord(models.Model):
    """A change that was made, and its answer, until it expires."""

    # Of the owner and the key: one column is unique in every database.
    digest = models.CharField(_("digest"), max_length=32, primary_key=True)
    owner = models.CharField(_("owner"), max_length=255)
    # Whom the bounds of keys count.
    holder = models.CharField(_("holder"), max_length=64)
    key = models.CharField(_("key"), max_length=255, blank=True)
    operation = models.CharField(_("operation"), max_length=255)
    arguments = models.JSONField(_("hashes of the arguments"), default=dict)
    answer = models.TextField(_("answer"), blank=True)
    size = models.PositiveBigIntegerField(_("characters"), default=0)
    rights = models.CharField(_("hash of the caller's rights"), max_length=64, blank=True)
    created = models.DateTimeField(_("created"))
    expires = models.DateTimeField(_("expires"), db_index=True)

    class Meta:
        verbose_name = _("idempotency record")
        verbose_name_plural = _("idempotency records")
        indexes = [models.Index(fields=["holder"], name="drf_mcp_key_holder")]

    def __str__(self) -> str:
        return f"{self.operation} {self.key}"
