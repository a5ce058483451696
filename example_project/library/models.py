"""The library's one table."""

from __future__ import annotations

import hashlib

from django.db import models


class Document(models.Model):
    """A text to search: one topic of Python's language reference."""

    name = models.SlugField(
        max_length=80, unique=True, help_text="Short name, such as context-managers."
    )
    title = models.CharField(max_length=200)
    text = models.TextField()
    checksum = models.CharField(max_length=64, editable=False, help_text="SHA-256 of the document.")

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.title

    def save(self, *args, **kwargs) -> None:
        self.checksum = checksum(self.name, self.title, self.text)
        super().save(*args, **kwargs)


def checksum(*texts: str) -> str:
    """The SHA-256 of some texts, in hexadecimal digits."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
