"""What options say beside arguments: examples, ``_meta``, icons, and what resources are."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from drf_mcp.option_types.kinds import Kind, ListOf, shorten_repr

# The names of the members of ``_meta`` (2025-11-25, basic, "General fields").
LABEL = r"[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
PREFIX = re.compile(rf"{LABEL}(?:\.{LABEL})*")
NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
PROTOCOL = ("modelcontextprotocol", "mcp")
TRACING = ("traceparent", "tracestate", "baggage")

SOURCE = re.compile(r"https://[^\s/?#]+\S*|data:image/[\w.+-]+;base64,[A-Za-z0-9+/]+={0,2}")
IMAGE = re.compile(r"image/[\w.+-]+")
THEME = re.compile("light|dark")
SIZE = re.compile(r"[1-9]\d*x[1-9]\d*|any")


class JSONObject(Kind):
    words = "a dict of JSON values"

    def takes(self, value: Any) -> bool:
        if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
            return False
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            return False
        return True


class MetaMembers(JSONObject):
    def fault(self, value: Any) -> str:
        fault = super().fault(value)
        if fault or value is None:
            return fault
        faults = ((key, self.find_fault(key)) for key in value)
        return next(
            (f"holds the key {shorten_repr(k)}: {found}." for k, found in faults if found), ""
        )

    def find_fault(self, key: str) -> str:
        prefix, slash, name = key.rpartition("/")
        if (slash and not PREFIX.fullmatch(prefix)) or not (
            NAME.fullmatch(name) or (slash and not name)
        ):
            return "a key is a name such as 'team', or has a prefix such as 'com.example/team'"
        labels = prefix.split(".")
        # Up to 2025-06-18 any label but the last, since then the second one.
        if any(label in PROTOCOL for label in (*labels[:-1], *labels[1:2])):
            return "the prefix is reserved for the protocol"
        return "the name is reserved for the protocol" if key in TRACING else ""


class Icon(Kind):
    words = (
        "a dict with src (an https URL, or a data URI of an image in base64), and if need be "
        "mimeType ('image/png'), sizes (['48x48'] or ['any']) and theme ('light' or 'dark')"
    )

    def takes(self, value: Any) -> bool:
        patterns = {"src": SOURCE, "mimeType": IMAGE, "theme": THEME}
        if not isinstance(value, Mapping) or "src" not in value:
            return False
        if value.keys() - patterns.keys() - {"sizes"} or not self.are_sizes(value.get("sizes")):
            return False
        return all(self.is_text(p, value[name]) for name, p in patterns.items() if name in value)

    def is_text(self, pattern: re.Pattern[str], value: Any) -> bool:
        return isinstance(value, str) and bool(pattern.fullmatch(value))

    def are_sizes(self, value: Any) -> bool:
        if value is None:
            return True
        if not isinstance(value, (list, tuple)) or not value:
            return False
        return all(self.is_text(SIZE, size) for size in value)


EXAMPLES = ListOf(JSONObject())
ICONS = ListOf(Icon())
