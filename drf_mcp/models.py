"""Archived content, where the archive is the database."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class ArchivedContent(models.Model):
    """What was left out of one result, until it expires."""

    archive_id = models.CharField(_("archive id"), max_length=64, primary_key=True)
    owner = models.CharField(_("owner"), max_length=255, blank=True)
    tool = models.CharField(_("tool"), max_length=64)
    content = models.TextField(_("content"))
    kwargs = models.JSONField(_("kwargs of the call"), default=dict)
    query_string = models.TextField(_("query of the call"), blank=True)
    content_hash = models.CharField(_("content hash"), max_length=71)
    created = models.DateTimeField(_("created"))
    expires = models.DateTimeField(_("expires"), db_index=True)

    class Meta:
        """Names, and the index that looking up by hash needs."""

        verbose_name = _("archived content")
        verbose_name_plural = _("archived contents")
        indexes = [models.Index(fields=["owner", "content_hash"], name="drf_mcp_owner_hash")]

    def __str__(self) -> str:
        return f"{self.tool} {self.archive_id}"
