"""What the body of an error response says, whatever its shape, and what can be done about it.

REST framework's own bodies are objects of lists by field; a project's exception
handler may write anything. Many list objects that each tell of one error: ``{"attr", "detail",
"code"}``, RFC 9457's ``{"pointer", "detail"}``, JSON:API's ``{"source": {"pointer"}, "detail"}``
and pydantic's ``{"loc", "msg", "type"}``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from django.utils.translation import gettext_noop as _
from rest_framework.exceptions import ErrorDetail
from rest_framework.settings import api_settings

from drf_mcp.codes import CAUSES, HANDLING, Advice, Category
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


# Each is translated where it is used. The message names the argument.
CORRECT = _("Correct it.")
PROBLEM_REMEDIES = {
    "required": _("Provide it."),
    "null": _("Send a value other than null."),
    "blank": _("Send a non-empty text."),
    "empty": _("Do not send it empty."),
    "invalid_choice": _("Use an accepted value."),
    "not_shown": _("Use one of the values that the message names."),
    "max_length": _("Shorten it."),
    "min_length": _("Lengthen it."),
    "max_value": _("Use a smaller value."),
    "min_value": _("Use a larger value."),
    "max_digits": _("Use fewer digits."),
    "max_whole_digits": _("Use fewer digits before the decimal point."),
    "max_decimal_places": _("Use fewer decimal places."),
    "max_string_length": _("Use fewer digits."),
    "invalid_image": _("Send an image."),
    "invalid_extension": _("Send a file of an accepted type."),
    "unique": _("Use another value; this one is taken."),
    "does_not_exist": _("Use one that exists."),
    "incorrect_type": _("Send an identifier of the accepted type."),
    "not_a_list": _("Send a JSON array."),
    "not_a_dict": _("Send a JSON object."),
}
# Codes that leave no doubt that the value is not what is accepted. "invalid" does where the value
# is of another type: a view refuses values for any reason of its own as "invalid".
FORMAT_CODES = frozenset(
    {"required", "null", "invalid_choice", "incorrect_type", "not_a_list", "not_a_dict"}
)
# Where no argument alone is wrong: several may be, or the state of an object.
ANOTHER = HANDLING[Category.VALIDATION].advice
WHOLE_REMEDIES = {
    "required": _("Provide the arguments."),
    "null": _("Provide the arguments."),
    "unique": _("Use another combination of values; this one is taken."),
}

FILE_REMEDIES = {
    "max_length": _("Shorten the file name."),
    "empty": _("Send a file that is not empty."),
}
# Translators: such as "Send one of low, high." and "Send an email address."
SEND = _("Send %(accepted)s.")
OPTIONAL_NULL = _("Send a value other than null, or leave it out.")

CODE_REMEDIES = {
    "INVALID_FORMAT": _("Correct the format of the arguments and call again."),
    "METHOD_NOT_ALLOWED": _("This operation does not exist here; use another tool."),
    "CONFLICT": _(
        "Read the object's current state, then decide whether the call still makes sense."
    ),
    "DUPLICATE_ENTRY": _("The object exists already; use it, or choose other values."),
    "TIME_LIMIT_EXCEEDED": _(
        "Look whether a part of it was done, then ask for less at once: a smaller page, narrower"
        " filters, fewer items."
    ),
}


NOT_SENT = Advice(
    _(
        "Do not repeat the call: the API asks for a header or a protocol that this tool does not"
        " send. Report it."
    ),
    recoverable=False,
)
UNKNOWN_EFFECT = Advice(_("Find out whether the call took effect; if it did not, try again later."))
# By the HTTP status, where neither the arguments nor the code say more.
STATUS_ADVICE: Mapping[int, Advice] = {
    **dict.fromkeys((411, 417, 421, 426, 428, 431, 505, 511), NOT_SENT),
    **dict.fromkeys((408, 502, 504), UNKNOWN_EFFECT),
    402: Advice(_("Do not repeat the call: it needs a payment, or another plan."), False),
    405: Advice(CODE_REMEDIES["METHOD_NOT_ALLOWED"]),
    406: Advice(
        _("Do not repeat the call: the API cannot answer in a form that tools read. Report it."),
        False,
    ),
    410: Advice(_("It is gone for good: do not ask for it again."), False),
    412: Advice(
        _(
            "Read the object again: it has changed since it was read. Then call with its new"
            " version."
        )
    ),
    413: Advice(_("Send less: shorter texts, smaller files or fewer items.")),
    414: Advice(_("Send shorter values: they have no room in a URL.")),
    415: Advice(
        _(
            "Where an argument is a file, send one of a type that is accepted. Otherwise do not"
            " repeat the call: the API does not take what this tool sends."
        )
    ),
    416: Advice(_("Ask for a part that exists.")),
    423: Advice(_("Wait until the object is no longer locked, then call again.")),
    424: Advice(_("Mend what failed before, then call again.")),
    425: Advice(_("Wait, then call again.")),
    451: Advice(_("Do not repeat the call: the answer is withheld for legal reasons."), False),
    501: Advice(_("Do not repeat the call: the API does not offer this. Use another tool."), False),
}
# Statuses below 500 for which the advice of their category, or code, is right.
BY_CATEGORY = frozenset({400, 401, 403, 404, 405, 409, 422, 429})
UNKNOWN_STATUS = Advice(_("Do what the message asks for before calling again."))
UNWRITABLE = Advice(
    _(
        "Do not repeat the call: it may have taken effect, and its answer cannot be written. Report"
        " the request id."
    ),
    recoverable=False,
)
UNWRITABLE_TRIAL = Advice(
    _(
        "Do not repeat the dry run: its answer cannot be written, nor would that of the call be."
        " Report the request id."
    ),
    recoverable=False,
)


def get_status_advice(status: int) -> Advice | None:
    known = STATUS_ADVICE.get(status)
    if known is None and 400 <= status < 500 and status not in BY_CATEGORY:
        return UNKNOWN_STATUS
    return known
