"""What the body of an error response says, whatever its shape.

REST framework's own bodies are objects of lists by field; a project's exception
handler may write anything. Many list objects that each tell of one error: ``{"attr", "detail",
"code"}``, RFC 9457's ``{"pointer", "detail"}``, JSON:API's ``{"source": {"pointer"}, "detail"}``
and pydantic's ``{"loc", "msg", "type"}``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from rest_framework.exceptions import ErrorDetail
from rest_framework.settings import api_settings

from drf_mcp.codes import CAUSES
from drf_mcp.json_text import OBJECTS, JSONPointer

Path = tuple[str | int, ...]
TEXT_KEYS = ("detail", "message", "msg", "title")
CODE_KEYS = ("code", "type")
# Members of an error object that hold a path as dotted names, ``lines.0.quantity``.
NAME_KEYS = ("attr", "field")
PLACE_KEYS = frozenset({"loc", "pointer", "source", *NAME_KEYS})
# JSON:API puts these around the fields of a document.
DOCUMENT = re.compile("^/data(/(attributes|relationships))?")
# The first member of a ``loc``: the part of the request that holds the value.
REQUEST_PARTS = ("body", "query", "path")
# pydantic's codes for which REST framework has another word.
PYDANTIC_CODES = {"missing": "required"}
INDEX = re.compile(r"\[(\d+)\]")
MESSAGE_KEYS = ("detail", "message", "error", "title", "description", "errors")
# Names that custom error bodies put around the view's own.
WRAPPERS = frozenset({*MESSAGE_KEYS, "error_description", "messages", "fields", "data", "details"})
# Names under which an error body classifies or identifies itself, be they arguments as well.
FACTS = frozenset({"type", "code", "status", "status_code", "error_code", "instance", "request_id"})
# Statuses whose texts speak of the arguments.
VALIDATING = frozenset({400, 422})


class ErrorText(NamedTuple):
    """One text of an error body, and the names and indexes that lead to it.

    It is an ErrorDetail where the view's own exception survived.
    """

    path: Path
    text: str

    @property
    def code(self) -> str:
        return str(getattr(self.text, "code", None) or "invalid")

    @property
    def is_fact(self) -> bool:
        # A single word under such a name is a code or an address, and no sentence.
        return bool(self.path) and self.path[-1] in FACTS and len(self.text.split()) == 1

    def is_problem(self, status: int) -> bool:
        has_code = isinstance(self.text, ErrorDetail)
        if status not in VALIDATING:
            return status < 500 and bool(self.path) and has_code
        if has_code:
            return bool(self.path) or self.code not in CAUSES
        return bool(self.path) and not self.is_fact


def find_error_texts(data: Any, path: Path = ()) -> list[ErrorText]:
    if isinstance(data, str):
        return [ErrorText(path, data)] if data.strip() else []
    found: list[ErrorText] = []
    if isinstance(data, (list, tuple)):
        for index, item in enumerate(data):
            has_code = not isinstance(item, str) and isinstance(item, OBJECTS) and "code" in item
            if has_code and isinstance(item["code"], str) and find_place(item) is None:
                # REST framework's own ``get_full_details`` writes objects of text and code.
                item = read_error(item) or item
            if not isinstance(item, str):
                found += find_error_texts(item, (*path, index))
            elif item.strip():
                found.append(ErrorText(path, item))
    elif isinstance(data, OBJECTS):
        whole = (api_settings.NON_FIELD_ERRORS_KEY, "__all__")
        place = None if PLACE_KEYS.isdisjoint(data) else find_place(data)
        if place is not None and (text := read_error(data)) is not None:
            return [ErrorText(tuple(part for part in place if part not in whole), text)]
        for key, value in data.items():
            # An argument may be called "detail" too; its own errors are in a list.
            is_general = key in whole or (key in WRAPPERS and isinstance(value, str))
            found += find_error_texts(value, path if is_general else (*path, key))
    return found


def find_sentence(data: Any) -> str:
    """Return what the body of an error response, or the detail of an APIException, says first."""
    parts: Iterable[Any] = ()
    if isinstance(data, Mapping):
        parts = (data.get(key) for key in MESSAGE_KEYS)
    elif isinstance(data, (list, tuple)):
        parts = data
    found = next(filter(None, map(find_sentence, parts)), "")
    texts = sorted(find_error_texts(data), key=lambda entry: entry.is_fact)
    return found or next((str(entry.text) for entry in texts), "")


def find_cause(data: Any, texts: Iterable[ErrorText], status: int) -> str:
    """Return the code of the APIException that became a body with these texts, "" for none."""
    validating = status in VALIDATING
    for entry in texts:
        if not isinstance(entry.text, ErrorDetail) or (validating and unwrap_path(entry.path)):
            continue
        if not validating or entry.code in CAUSES:
            return entry.code
        # A validation error's texts about the arguments are in lists, those of others alone.
        if isinstance(data, OBJECTS) and any(entry.text is value for value in data.values()):
            return entry.code
    return ""


def find_place(data: Mapping[str, Any]) -> Path | None:
    """Return the path that an error object names, in one of the common forms; None for none."""
    loc, pointer, source = data.get("loc"), data.get("pointer"), data.get("source")
    if isinstance(source, OBJECTS):
        pointer = source.get("parameter")
        if isinstance(source.get("pointer"), str):
            pointer = DOCUMENT.sub("", source["pointer"]) or "/"
    if isinstance(loc, (list, tuple)):
        path = tuple(part if isinstance(part, int) else str(part) for part in loc)
        return path[1:] if path[:1] and path[0] in REQUEST_PARTS else path
    if isinstance(pointer, str):
        # RFC 9457 writes a pointer as the fragment of a URI.
        text = pointer.removeprefix("#") if "/" in pointer else f"/{pointer}"
        names: Iterable[str] = JSONPointer(text).path
    else:
        # Null is the request as a whole.
        named = [data[key] or "" for key in NAME_KEYS if key in data]
        if not named or not isinstance(named[0], str):
            return None
        names = INDEX.sub(r".\1", named[0]).split(".")
    return tuple(int(name) if name.isdecimal() else name for name in names if name)


def read_error(data: Mapping[str, Any]) -> ErrorDetail | None:
    """Return the text of an error object with its code, None where it has no text."""
    texts = [data[key] for key in TEXT_KEYS if isinstance(data.get(key), str)]
    text = next((text for text in texts if text.strip()), None)
    if text is None:
        return None
    # Codes are words. A type may be a URL as well, and a number says nothing.
    codes = [data[key] for key in CODE_KEYS if isinstance(data.get(key), str)]
    words = (code for code in codes if code.replace("-", "_").isidentifier())
    code = next(words, str(getattr(text, "code", None) or "invalid"))
    return ErrorDetail(text, PYDANTIC_CODES.get(code, code))


def unwrap_path(path: Path) -> Path:
    for start, part in enumerate(path):
        if not isinstance(part, int) and part not in WRAPPERS:
            return path[start:]
    return ()
