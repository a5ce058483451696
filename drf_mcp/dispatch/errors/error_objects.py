"""Objects that each tell of one error, as many error bodies list them.

Such as ``{"attr", "detail", "code"}``, JSON:API's ``{"source": {"pointer"}, "detail", "code"}``,
RFC 9457's ``{"pointer", "detail"}`` and pydantic's ``{"loc", "msg", "type"}``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rest_framework.exceptions import ErrorDetail

Path = tuple[str | int, ...]

TEXT_KEYS = ("detail", "message", "msg", "title")
CODE_KEYS = ("code", "type")
# What a place is written under as dotted names, ``lines.0.quantity`` or ``lines[0].quantity``.
NAME_KEYS = ("attr", "field")
# The first member of a ``loc``: where in the request the value stands.
REQUEST_PARTS = ("body", "query", "path")
# What JSON:API puts around the fields of a document.
DOCUMENT_PARTS = ("attributes", "relationships")
# pydantic's codes that REST framework has a word of its own for.
PYDANTIC_CODES = {"missing": "required"}
INDEX = re.compile(r"\[(\d+)\]")


def placed_error(data: Any) -> tuple[Path, ErrorDetail] | None:
    """Return the text of an error object with the path it names; None if it is no such object."""
    if not isinstance(data, Mapping):
        return None
    path, text = place_of(data), text_of(data)
    return None if path is None or text is None else (path, text)


def coded_error(data: Any) -> ErrorDetail | None:
    """Return the text of an error object that names a code and no place; None for others.

    REST framework's own ``get_full_details`` writes them.
    """
    if not isinstance(data, Mapping) or not isinstance(data.get("code"), str):
        return None
    return text_of(data) if place_of(data) is None else None


def place_of(data: Mapping[str, Any]) -> Path | None:
    """Return the path that an error object names; None if it names none."""
    loc, source = data.get("loc"), data.get("source")
    if isinstance(loc, (list, tuple)):
        path = tuple(part if isinstance(part, int) else str(part) for part in loc)
        return path[1:] if path[:1] and path[0] in REQUEST_PARTS else path
    if isinstance(source, Mapping) and isinstance(source.get("pointer"), str):
        return without_document(pointed_to(source["pointer"]))
    if isinstance(source, Mapping) and isinstance(source.get("parameter"), str):
        return (source["parameter"],)
    if isinstance(data.get("pointer"), str):
        return pointed_to(data["pointer"])
    # Null stands for the request as a whole.
    named = [data[key] or "" for key in NAME_KEYS if key in data]
    return dotted(named[0]) if named and isinstance(named[0], str) else None


def text_of(data: Mapping[str, Any]) -> ErrorDetail | None:
    """Return what an error object says, with its code; None if it says nothing."""
    said = [data[key] for key in TEXT_KEYS if isinstance(data.get(key), str)]
    text = next((text for text in said if text.strip()), None)
    if text is None:
        return None
    # Codes are words. A type may be a URL as well, and a number says nothing.
    codes = [data[key] for key in CODE_KEYS if isinstance(data.get(key), str)]
    own = getattr(text, "code", None) or "invalid"
    code = next((code for code in codes if code.replace("-", "_").isidentifier()), str(own))
    return ErrorDetail(text, PYDANTIC_CODES.get(code, code))


def dotted(name: str) -> Path:
    """Return the path that dotted names are."""
    return tuple(map(number_or_name, filter(None, INDEX.sub(r".\1", name).split("."))))


def pointed_to(pointer: str) -> Path:
    """Return the path that a JSON pointer is, be it a URI fragment or not."""
    tokens = pointer.removeprefix("#").split("/")[1:] if "/" in pointer else [pointer]
    names = (token.replace("~1", "/").replace("~0", "~") for token in tokens)
    return tuple(map(number_or_name, filter(None, names)))


def without_document(path: Path) -> Path:
    """Return a path in a JSON:API document from the field on."""
    fields = path[1:] if path[:1] == ("data",) else path
    return fields[1:] if fields[:1] and fields[0] in DOCUMENT_PARTS else fields


def number_or_name(part: str) -> str | int:
    """Return a member of a path, an index as a number."""
    return int(part) if part.isdecimal() else part
