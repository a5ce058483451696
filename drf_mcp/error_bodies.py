"""What the body of an error response says, whatever its shape.

REST framework's own bodies are objects of lists by field; a project's exception
handler may write anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import dropwhile
from typing import Any

from rest_framework.exceptions import ErrorDetail
from rest_framework.settings import api_settings

Path = tuple[str | int, ...]

MESSAGE_KEYS = ("detail", "message", "error", "title", "description", "errors")
# Names that custom error bodies put around the view's own.
WRAPPERS = frozenset({*MESSAGE_KEYS, "error_description", "messages", "fields", "data", "details"})

# The first member of a ``loc``: where in the request the value stands.
REQUEST_PARTS = ("body", "query", "path")
# pydantic's codes that REST framework has a word of its own for.
PYDANTIC_CODES = {"missing": "required"}


def leaves(data: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield each text of an error body with the path of names that leads to it."""
    if isinstance(data, str):
        if data.strip():
            yield path, data
    elif isinstance(data, Mapping) and is_pydantic_error(data):
        yield pydantic_error(data)
    elif isinstance(data, Mapping):
        for key, value in data.items():
            yield from leaves(value, path if is_general(key, value) else (*path, key))
    elif isinstance(data, (list, tuple)):
        for index, item in enumerate(data):
            yield from leaves(item, path if isinstance(item, str) else (*path, index))


def is_pydantic_error(data: Mapping[str, Any]) -> bool:
    """Return whether an object is an error in pydantic's form, as FastAPI and others send it."""
    loc, message = data.get("loc"), data.get("msg")
    return isinstance(loc, (list, tuple)) and isinstance(message, str)


def pydantic_error(data: Mapping[str, Any]) -> tuple[Path, str]:
    """Return the text of such an error with the path that leads to it."""
    loc = [part if isinstance(part, int) else str(part) for part in data["loc"]]
    path = tuple(loc[1:] if loc and loc[0] in REQUEST_PARTS else loc)
    code = str(data.get("type") or "invalid")
    return path, ErrorDetail(data["msg"], PYDANTIC_CODES.get(code, code))


def is_general(key: str, value: Any) -> bool:
    """Return whether a member of an error body speaks of the request as a whole.

    An argument may be called ``message`` or ``detail``; what is wrong with it stands in
    a list.
    """
    whole = key in (api_settings.NON_FIELD_ERRORS_KEY, "__all__")
    return whole or (key in WRAPPERS and isinstance(value, str))


def unwrapped(path: Path) -> Path:
    """Return a path without the names that custom error bodies wrap it in."""
    return tuple(dropwhile(lambda part: isinstance(part, int) or part in WRAPPERS, path))


def is_detail(text: str) -> bool:
    """Return whether a text is an ErrorDetail, with a code."""
    return isinstance(text, ErrorDetail)


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
