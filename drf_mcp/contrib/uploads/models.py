from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class WaitingFile(models.Model):
    """A file that its caller may name in the arguments of calls, until it expires."""

    reference = models.CharField(_("reference"), max_length=64, primary_key=True)
    owner = models.CharField(_("owner"), max_length=255, blank=True)
    # Whom the bounds of uploads count.
    holder = models.CharField(_("holder"), max_length=64)
    path = models.CharField(_("path in the storage"), max_length=255)
    name = models.CharField(_("name"), max_length=255)
    content_type = models.CharField(_("content type"), max_length=255, blank=True)
    size = models.PositiveBigIntegerField(_("bytes"))
    expires = models.DateTimeField(_("expires"), db_index=True)

    class Meta:
        verbose_name = _("uploaded file")
        verbose_name_plural = _("uploaded files")
        indexes = [models.Index(fields=["holder"], name="drf_mcp_upload_holder")]

    def __str__(self) -> str:
        return self.name
