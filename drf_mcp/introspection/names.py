"""Argument names that every client and model provider accepts."""

from __future__ import annotations

import hashlib
import re

LONGEST = 64
PORTABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")

SECRET = re.compile(
    r"pass(?:w|code|phrase|key)|secret|token|(?:api|access|private)_?key|credential"
    r"|security_?code|card_?number|cvv|cvc|ssn|iban|(?:\b|_)(?:pin|otp)(?:_?code)?(?:\b|_)",
    re.IGNORECASE,
)


def sounds_secret(name: str) -> bool:
    return SECRET.search(name) is not None


def is_portable(name: str) -> bool:
    return PORTABLE.fullmatch(name) is not None


def make_portable_name(name: str) -> str:
    """Return the name an agent uses for a view's own name, always the same for one name.

    Different names may meet in one portable name: the caller has to tell them apart.
    """
    if is_portable(name):
        return name
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
    if not name.endswith("_"):
        plain = plain.rstrip("_")
    if not plain or plain[0].isdigit():
        plain = f"_{plain}"
    if len(plain) <= LONGEST:
        return plain
    # The digest keeps long names apart that start alike.
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain[: LONGEST - 9]}_{digest}"
