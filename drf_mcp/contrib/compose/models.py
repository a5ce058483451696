from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class KeptProgram(models.Model):
    """The answers of a program that stopped, or the result that was too long, until they expire."""

    nonce = models.CharField(_("nonce"), max_length=32, primary_key=True)
    owner = models.CharField(_("hash of the owner"), max_length=64)
    # Whom the bound of kept programs counts.
    holder = models.CharField(_("holder"), max_length=64)
    # JSON in ASCII: every database has those characters.
    state = models.TextField(_("state"))
    created = models.DateTimeField(_("created"))
    expires = models.DateTimeField(_("expires"), db_index=True)

    class Meta:
        verbose_name = _("kept program")
        verbose_name_plural = _("kept programs")
        indexes = [models.Index(fields=["holder"], name="drf_mcp_program_holder")]

    def __str__(self) -> str:
        return self.nonce
