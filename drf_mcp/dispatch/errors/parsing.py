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

from drf_mcp.dispatch.errors.error_objects import Path, coded_error, placed_error

MESSAGE_KEYS = ("detail", "message", "error", "title", "description", "errors")
# Names that custom error bodies put around the view's own.
WRAPPERS = frozenset({*MESSAGE_KEYS, "error_description", "messages", "fields", "data", "details"})

# Names under which an error body classifies or identifies itself, be they arguments as well.
FACTS = frozenset({"type", "code", "status", "status_code", "error_code", "instance", "request_id"})


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
