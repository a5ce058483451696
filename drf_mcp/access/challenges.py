"""The Bearer challenge of ``WWW-Authenticate``, read and written (RFC 6750, section 3)."""

from __future__ import annotations

import re
from collections.abc import Mapping

SCHEME = "Bearer"
# One parameter as RFC 9110 has it: a token, or a string in quotes.
PARAMETER = r"""([!#$%&'*+.^_`|~\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",=]+))"""
CHALLENGE = re.compile(rf"bearer(?:\s+{PARAMETER}(?:\s*,\s*{PARAMETER})*)?\s*", re.I | re.A)
# A token in an Authorization header (RFC 6750, section 2.1).
TOKEN = re.compile(r"[\w.~+/-]+=*", re.A)
# Neither text nor scopes may hold quotes, and several clients end a value at the first one.
UNWRITABLE = str.maketrans({'"': "'", "\\": "/"})


class BearerChallenge:
    """One challenge; parameters without a value are left out.

    Args:
        parameters: the values by the names of the parameters, such as ``scope``.
    """

    def __init__(self, parameters: Mapping[str, str] | None = None) -> None:
        self.parameters = dict(parameters or {})

    @classmethod
    def parse(cls, header: str) -> BearerChallenge | None:
        """Return the challenge that a header holds, None unless it is one Bearer challenge."""
        if not CHALLENGE.fullmatch(header):
            return None
        found = re.findall(PARAMETER, header[len(SCHEME) :], re.A)
        return cls({name: re.sub(r"\\(.)", r"\1", text) or word for name, text, word in found})

    def __str__(self) -> str:
        written = ((name, self.clean(text)) for name, text in self.parameters.items())
        parameters = ", ".join(f'{name}="{text}"' for name, text in written if text)
        return f"{SCHEME} {parameters}".rstrip()

    def clean(self, text: str) -> str:
        # A text in another alphabet is left out whole: only ASCII can be sent.
        if not text.isascii():
            return ""
        return "".join(filter(str.isprintable, text.translate(UNWRITABLE))).strip()
