"""Finds the texts in the body of an error response, whatever its shape.

The bodies of REST framework are objects of lists by field. The exception handler of a project may
write other bodies. Many are lists of objects, one for each error: ``{"attr", "detail", "code"}``,
``{"pointer", "detail"}`` of RFC 9457, ``{"source": {"pointer"}, "detail"}`` of JSON:API and
``{"loc", "msg", "type"}`` of pydantic.
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
# The members around the fields of a document of JSON:API.
DOCUMENT = re.compile("^/data(/(attributes|relationships))?")
# The first member of a ``loc``: the part of the request that holds the value.
REQUEST_PARTS = ("body", "query", "path")
# pydantic's codes for which REST framework has another word.
PYDANTIC_CODES = {"missing": "required"}
INDEX = re.compile(r"\[(\d+)\]")
MESSAGE_KEYS = ("detail", "message", "error", "title", "description", "errors")
# Names of members that custom error bodies put around the errors of fields.
WRAPPERS = frozenset({*MESSAGE_KEYS, "error_description", "messages", "fields", "data", "details"})
# Members that classify or identify an error; an argument may have such a name as well.
FACTS = frozenset({"type", "code", "status", "status_code", "error_code", "instance", "request_id"})
# Statuses of errors that are about the arguments.
VALIDATING = frozenset({400, 422})


class ErrorText(NamedTuple):
    """One text of an error body, and the names and indexes that lead to it.

    The text is an ErrorDetail where it is that of REST framework's exception.
    """

    path: Path
    text: str

    @property
    def code(self) -> str:
        return str(getattr(self.text, "code", None) or "invalid")

    @property
    def is_fact(self) -> bool:
        # A single word in such a member is a code or an address, and no sentence.
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
                # ``get_full_details`` of REST framework writes objects of a message and a code.
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
            # A field may be called "detail", but its errors are in a list.
            is_general = key in whole or (key in WRAPPERS and isinstance(value, str))
            found += find_error_texts(value, path if is_general else (*path, key))
    return found


def find_sentence(data: Any) -> str:
    """Return the first message in the body of an error response or detail of an APIException."""
    parts: Iterable[Any] = ()
    if isinstance(data, Mapping):
        parts = (data.get(key) for key in MESSAGE_KEYS)
    elif isinstance(data, (list, tuple)):
        parts = data
    found = next(filter(None, map(find_sentence, parts)), "")
    texts = sorted(find_error_texts(data), key=lambda entry: entry.is_fact)
    return found or next((str(entry.text) for entry in texts), "")


def find_cause(data: Any, texts: Iterable[ErrorText], status: int) -> str:
    """Return the code of the APIException from which a body was made, "" if it is unknown."""
    validating = status in VALIDATING
    for entry in texts:
        if not isinstance(entry.text, ErrorDetail) or (validating and unwrap_path(entry.path)):
            continue
        if not validating or entry.code in CAUSES:
            return entry.code
        # The texts of a ValidationError are in lists, the text of any other exception is not.
        if isinstance(data, OBJECTS) and any(entry.text is value for value in data.values()):
            return entry.code
    return ""


def find_place(data: Mapping[str, Any]) -> Path | None:
    """Return the path in an error object of one of the common forms, None where it has none."""
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
        # Null is the whole request.
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
    # A code is a word; a "type" may also be a URL or a number.
    codes = [data[key] for key in CODE_KEYS if isinstance(data.get(key), str)]
    words = (code for code in codes if code.replace("-", "_").isidentifier())
    code = next(words, str(getattr(text, "code", None) or "invalid"))
    return ErrorDetail(text, PYDANTIC_CODES.get(code, code))


def unwrap_path(path: Path) -> Path:
    """Return a path without the wrappers and indexes that it begins with."""
    for start, part in enumerate(path):
        if not isinstance(part, int) and part not in WRAPPERS:
            return path[start:]
    return ()
