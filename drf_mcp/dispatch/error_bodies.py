"""What error responses say.

The bodies of REST framework are objects of lists by field. The exception handler of a project may
write other bodies. Many are lists of objects, one for each error: ``{"attr", "detail", "code"}``,
``{"pointer", "detail"}`` of RFC 9457, ``{"source": {"pointer"}, "detail"}`` of JSON:API and
``{"loc", "msg", "type"}`` of pydantic.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from rest_framework.exceptions import ErrorDetail
from rest_framework.settings import api_settings

from drf_mcp.codes import CAUSES
from drf_mcp.json_text import OBJECTS, JSONPointer

Path = tuple[str | int, ...]
# The object or list that holds a value of the body, by its id, and the key or index in it.
Place = tuple[int, str | int]
TEXT_KEYS = ("detail", "message", "msg", "title")
CODE_KEYS = ("code", "type")
OWN_CODE_KEYS = ("code", "error_code")
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
MESSAGE_KEYS = ("detail", "message", "error_description", "error", "title", "description", "errors")
# Names of members that custom error bodies put around the errors of fields.
WRAPPERS = frozenset({*MESSAGE_KEYS, "error_description", "messages", "fields", "data", "details"})
# What the caller sent, which a problem describes as far as it is no secret.
ECHOED = "input"
# Members that classify or identify an error; an argument may have such a name as well.
FACTS = frozenset({"type", "code", "status", "status_code", "error_code", "instance", "request_id"})
# Statuses of errors that are about the arguments.
VALIDATING = frozenset({400, 422})


class ErrorText(NamedTuple):
    """One text of an error body, and the names and indexes that lead to it.

    Attributes:
        text: an ErrorDetail where REST framework's exception has it.
        place: where the body has the text, or the error object of the text.
        more: the other members of the error object.
        is_placed: whether the error object names the place of the error.
    """

    path: Path
    text: str
    place: Place | None = None
    more: Mapping[str, Any] = {}
    is_placed: bool = False

    @property
    def code(self) -> str:
        return str(getattr(self.text, "code", None) or "invalid")

    @property
    def is_word(self) -> bool:
        return len(self.text.split()) == 1

    @property
    def is_fact(self) -> bool:
        # A single word in such a member is a code or an address, and no sentence.
        return bool(self.path) and self.path[-1] in FACTS and self.is_word

    def is_problem(self, status: int) -> bool:
        has_code = isinstance(self.text, ErrorDetail)
        if status < 300:
            return has_code
        if status not in VALIDATING:
            return status < 500 and bool(self.path) and has_code
        if has_code:
            return bool(self.path) or self.code not in CAUSES
        return bool(self.path) and not self.is_fact


def find_error_texts(data: Any, path: Path = (), place: Place | None = None) -> list[ErrorText]:
    if isinstance(data, str):
        return [ErrorText(path, data, place)] if data.strip() else []
    found: list[ErrorText] = []
    if isinstance(data, (list, tuple)):
        for index, item in enumerate(data):
            here = (id(data), index)
            # ``get_full_details`` of REST framework writes objects of a message and a code.
            has_code = not isinstance(item, str) and isinstance(item, OBJECTS) and "code" in item
            is_error = has_code and isinstance(item["code"], str) and _find_place(item) is None
            if is_error and (text := _read_error(item)) is not None:
                found.append(ErrorText(path, text, here, _find_more(item)))
            else:
                is_text = isinstance(item, str)
                found += find_error_texts(item, path if is_text else (*path, index), here)
    elif isinstance(data, OBJECTS):
        whole = (api_settings.NON_FIELD_ERRORS_KEY, "__all__")
        named = None if PLACE_KEYS.isdisjoint(data) else _find_place(data)
        if named is not None and (text := _read_error(data)) is not None:
            names = tuple(part for part in named if part not in whole)
            return [ErrorText(names, text, place, _find_more(data), is_placed=True)]
        for key, value in data.items():
            # A field may be called "detail", but its errors are in a list.
            is_general = key in whole or (key in WRAPPERS and isinstance(value, str))
            found += find_error_texts(value, path if is_general else (*path, key), (id(data), key))
    return found


def find_sentence(data: Any) -> str:
    """Return the first message in the body of an error response or detail of an APIException."""
    found = find_main_text(data)
    return "" if found is None else str(found.text)


def find_main_text(data: Any, place: Place | None = None) -> ErrorText | None:
    parts: Iterable[tuple[Any, Any]] = ()
    if isinstance(data, Mapping):
        parts = ((key, data.get(key)) for key in MESSAGE_KEYS)
    elif isinstance(data, (list, tuple)):
        parts = enumerate(data)
    for key, part in parts:
        if (found := find_main_text(part, (id(data), key))) is not None:
            return found
    texts = sorted(find_error_texts(data, (), place), key=lambda entry: entry.is_fact)
    return texts[0] if texts else None


def find_cause(data: Any, texts: Iterable[ErrorText], status: int) -> ErrorText | None:
    """Return the text with the code of the APIException from which a body was made."""
    validating = status in VALIDATING
    for entry in texts:
        if not isinstance(entry.text, ErrorDetail) or (validating and unwrap_path(entry.path)):
            continue
        if not validating or entry.code in CAUSES:
            return entry
        # The texts of a ValidationError are in lists, the text of any other exception is not.
        if isinstance(data, OBJECTS) and any(entry.text is value for value in data.values()):
            return entry
    return None


def find_own_code(data: Any) -> tuple[str, Place] | None:
    """Return the code that a body has next to its sentence, and its place."""
    if not isinstance(data, OBJECTS):
        return None
    for key in OWN_CODE_KEYS:
        code = data.get(key)
        if isinstance(code, str) and _is_code(code):
            return str(code), (id(data), key)
    return next(filter(None, (find_own_code(data.get(key)) for key in MESSAGE_KEYS)), None)


def _find_rest(data: Any, said: Collection[Place], place: Place | None = None) -> Any:
    """Return a body without the values at some places, None where nothing is left."""
    if place in said:
        return None
    if isinstance(data, OBJECTS):
        rest = {str(n): _find_rest(value, said, (id(data), n)) for n, value in data.items()}
        return {name: value for name, value in rest.items() if value is not None} or None
    if isinstance(data, (list, tuple)):
        items = (_find_rest(value, said, (id(data), n)) for n, value in enumerate(data))
        return [item for item in items if item is not None] or None
    return str(data) or None if isinstance(data, str) else data


def name_rest(data: Any, said: Collection[Place]) -> dict[str, Any]:
    """Return the members of a body that nothing else says."""
    rest = _find_rest(data, said)
    if isinstance(rest, list):
        rest = {"errors": rest}
    if not isinstance(rest, dict):
        return {}
    for wrapper in ("error", "detail"):
        inner = rest.get(wrapper)
        if isinstance(inner, dict) and (rest.keys() - {wrapper}).isdisjoint(inner):
            rest = {**{n: rest[n] for n in rest if n != wrapper}, **inner}
    return rest


def _find_place(data: Mapping[str, Any]) -> Path | None:
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


def _read_error(data: Mapping[str, Any]) -> ErrorDetail | None:
    """Return the text of an error object with its code, None where it has no text."""
    texts = [data[key] for key in TEXT_KEYS if isinstance(data.get(key), str)]
    text = next((text for text in texts if text.strip()), None)
    if text is None:
        return None
    codes = [data[key] for key in CODE_KEYS if isinstance(data.get(key), str)]
    code = next(filter(_is_code, codes), str(getattr(text, "code", None) or "invalid"))
    return ErrorDetail(text, PYDANTIC_CODES.get(code, code))


def _find_more(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of an error object that neither its text, its code nor its place is."""
    text = next((key for key in TEXT_KEYS if str(data.get(key) or "").strip()), None)
    code = next((key for key in CODE_KEYS if _is_code(str(data.get(key)))), None)
    known = {text, code, ECHOED, *PLACE_KEYS}
    more = {str(name): value for name, value in data.items() if name not in known}
    return {name: value for name, value in more.items() if value not in (None, "")}


def _is_code(text: str) -> bool:
    # A code is a word; a "type" may also be a URL or a number.
    return text.replace("-", "_").isidentifier()


def unwrap_path(path: Path) -> Path:
    """Return a path without the wrappers and indexes that it begins with."""
    for start, part in enumerate(path):
        if not isinstance(part, int) and part not in WRAPPERS:
            return path[start:]
    return ()
