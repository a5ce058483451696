"""The table of the archive: content that did not fit into results."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class ArchivedContent(models.Model):
    """Content that was left out of one result, until it expires."""

    archive_id = models.CharField(_("archive id"), max_length=64, primary_key=True)
    owner = models.CharField(_("owner"), max_length=255, blank=True)
    # Whom the bounds of the archive count.
    holder = models.CharField(_("holder"), max_length=255, blank=True, db_index=True)
    tool = models.CharField(_("tool"), max_length=64)
    content_hash = models.CharField(_("content hash"), max_length=71)
    size = models.PositiveBigIntegerField(_("characters"))
    terms = models.JSONField(_("rights that it is read by"), default=dict)
    text = models.TextField(_("first chunk"), blank=True)
    created = models.DateTimeField(_("created"))
    expires = models.DateTimeField(_("expires"), db_index=True)

    class Meta:
        verbose_name = _("archived content")
        verbose_name_plural = _("archived contents")
        indexes = [models.Index(fields=["owner", "content_hash"], name="drf_mcp_owner_hash")]

    def __str__(self) -> str:
        return f"{self.tool} {self.archive_id}"


class ArchivedChunk(models.Model):
    """A later part of archived content, of a size that every database takes."""

    content = models.ForeignKey(ArchivedContent, models.CASCADE, related_name="chunks")
    position = models.PositiveIntegerField(_("position"))
    text = models.TextField(_("text"))

    class Meta:
        verbose_name = _("archived chunk")
        verbose_name_plural = _("archived chunks")
        constraints = [
            models.UniqueConstraint(fields=["content", "position"], name="drf_mcp_chunk_position")
        ]

    def __str__(self) -> str:
        return f"{self.content_id} {self.position}"
