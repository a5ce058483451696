"""What the body of an error response says, whatever its shape.

REST framework's own bodies are objects of lists by field; a project's exception
handler may write anything. Many list objects that each tell of one error: ``{"attr", "detail",
"code"}``, JSON:API's ``{"source": {"pointer"}, "detail", "code"}``, RFC 9457's ``{"pointer",
"detail"}`` and pydantic's ``{"loc", "msg", "type"}``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import dropwhile
from typing import Any

from rest_framework.exceptions import ErrorDetail
from rest_framework.settings import api_settings

from drf_mcp.codes import CAUSES
from drf_mcp.json_text import JSONPointer

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

MESSAGE_KEYS = ("detail", "message", "error", "title", "description", "errors")
# Names that custom error bodies put around the view's own.
WRAPPERS = frozenset({*MESSAGE_KEYS, "error_description", "messages", "fields", "data", "details"})

# Names under which an error body classifies or identifies itself, be they arguments as well.
FACTS = frozenset({"type", "code", "status", "status_code", "error_code", "instance", "request_id"})
# Statuses whose texts speak of the arguments.
VALIDATING = frozenset({400, 422})


def leaves(data: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield each text of an error body with the path of names that leads to it."""
    if isinstance(data, str):
        if data.strip():
            yield path, data
    elif (told := placed_error(data)) is not None:
        yield tuple(part for part in told[0] if part not in whole_names()), told[1]
    elif isinstance(data, Mapping):
        for key, value in data.items():
            yield from leaves(value, path if is_general(key, value) else (*path, key))
    elif isinstance(data, (list, tuple)):
        for index, item in enumerate(data):
            coded = coded_error(item)
            text = item if coded is None else coded
            yield from leaves(text, path if isinstance(text, str) else (*path, index))


def whole_names() -> tuple[str, str]:
    """Return the names under which an error body speaks of the request as a whole."""
    return api_settings.NON_FIELD_ERRORS_KEY, "__all__"


def is_general(key: str, value: Any) -> bool:
    """Return whether a member of an error body speaks of the request as a whole.

    An argument may be called ``message`` or ``detail``; what is wrong with it stands in
    a list.
    """
    return key in whole_names() or (key in WRAPPERS and isinstance(value, str))


def unwrapped(path: Path) -> Path:
    """Return a path without the names that custom error bodies wrap it in."""
    return tuple(dropwhile(lambda part: isinstance(part, int) or part in WRAPPERS, path))


def is_detail(text: str) -> bool:
    """Return whether a text is an ErrorDetail, with a code."""
    return isinstance(text, ErrorDetail)


def is_fact(path: Path, text: str) -> bool:
    """Return whether a text is a code or an address of the error's own, and no sentence."""
    return bool(path) and path[-1] in FACTS and not is_detail(text) and len(text.split()) == 1


def detail_code(text: str) -> str:
    """Return the code of an ErrorDetail; "invalid" where it has none."""
    return str(getattr(text, "code", None) or "invalid")


def sentence(data: Any) -> str:
    """Return what an error body says for people, "" if nothing."""
    parts: Iterable[Any] = ()
    if isinstance(data, Mapping):
        parts = (data.get(key) for key in MESSAGE_KEYS)
    elif isinstance(data, (list, tuple)):
        parts = data
    said = next(filter(None, map(sentence, parts)), "")
    return said or next((text for _, text in leaves(data)), "")


def exception_code(status: int, data: Any, texts: Sequence[tuple[Path, str]]) -> str:
    """Return the code of the exception, as against those of its problems; "" if none.

    What a validation error says of the arguments stands in lists.
    """
    validating = status in VALIDATING
    alone = list(data.values()) if isinstance(data, Mapping) else []
    for path, text in texts:
        if is_detail(text) and not (validating and unwrapped(path)):
            code = detail_code(text)
            if not validating or code in CAUSES or any(text is value for value in alone):
                return code
    return ""


def complains(status: int, path: Path, text: str) -> bool:
    """Return whether a text of an error body says what is wrong with the arguments."""
    if status in VALIDATING:
        about_an_argument = bool(path) and not is_fact(path, text)
        return about_an_argument or (is_detail(text) and detail_code(text) not in CAUSES)
    return status < 500 and bool(path) and is_detail(text)


def exception_context(texts: Sequence[tuple[Path, str]]) -> dict[str, Any]:
    """Return the context that an exception has beside its message."""
    return {
        name: value for _, text in texts for name, value in getattr(text, "context", {}).items()
    }


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
    path = JSONPointer(pointer.removeprefix("#") if "/" in pointer else f"/{pointer}").path
    return tuple(map(number_or_name, filter(None, path)))


def without_document(path: Path) -> Path:
    """Return a path in a JSON:API document from the field on."""
    fields = path[1:] if path[:1] == ("data",) else path
    return fields[1:] if fields[:1] and fields[0] in DOCUMENT_PARTS else fields


def number_or_name(part: str) -> str | int:
    """Return a member of a path, an index as a number."""
    return int(part) if part.isdecimal() else part
