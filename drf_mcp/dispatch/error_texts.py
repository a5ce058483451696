"""What the body of an error response says, whatever its shape, and what can be done about it.

REST framework's own bodies are objects of lists by field; a project's exception
handler may write anything. Many list objects that each tell of one error: ``{"attr", "detail",
"code"}``, JSON:API's ``{"source": {"pointer"}, "detail", "code"}``, RFC 9457's ``{"pointer",
"detail"}`` and pydantic's ``{"loc", "msg", "type"}``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import dropwhile
from typing import Any

from django.utils.functional import cached_property
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _
from rest_framework.exceptions import ErrorDetail
from rest_framework.settings import api_settings

from drf_mcp.codes import CAUSES, HANDLING, Category
from drf_mcp.json_text import JSONPointer

Path = tuple[str | int, ...]
TEXT_KEYS = ("detail", "message", "msg", "title")
CODE_KEYS = ("code", "type")
# Members of an error object that hold a path as dotted names, ``lines.0.quantity``.
NAME_KEYS = ("attr", "field")
PLACE_KEYS = frozenset({"loc", "source", "pointer", *NAME_KEYS})
# The first member of a ``loc``: the part of the request that holds the value.
REQUEST_PARTS = ("body", "query", "path")
# JSON:API puts these around the fields of a document.
DOCUMENT_PARTS = ("attributes", "relationships")
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


@dataclass(frozen=True)
class ErrorText:
    """One text of an error body.

    Attributes:
        path: the names and indexes that lead to the text.
        text: the text, an ErrorDetail where the view's own exception survived.
        document_path: the same place in a document of JSON:API, with the parts around its fields.
    """

    path: Path
    text: str
    document_path: Path = ()

    @property
    def has_code(self) -> bool:
        return isinstance(self.text, ErrorDetail)

    @property
    def code(self) -> str:
        return str(getattr(self.text, "code", None) or "invalid")

    def is_problem(self, status: int) -> bool:
        if status not in VALIDATING:
            return status < 500 and bool(self.path) and self.has_code
        if self.has_code:
            return bool(self.path) or self.code not in CAUSES
        # A single word under such a name is a code or an address, and no sentence.
        is_fact = self.path[-1:] and self.path[-1] in FACTS and len(self.text.split()) == 1
        return bool(self.path) and not is_fact


class ErrorBody:
    """The body of an error response, or the detail of an APIException."""

    def __init__(self, data: Any) -> None:
        self.data = data

    @cached_property
    def texts(self) -> list[ErrorText]:
        return list(self._find_texts(self.data, ()))

    @property
    def sentence(self) -> str:
        return str(self._find_sentence(self.data))

    @property
    def context(self) -> dict[str, Any]:
        contexts = (getattr(entry.text, "context", None) for entry in self.texts)
        return {name: value for context in contexts if context for name, value in context.items()}

    def get_exception_code(self, status: int) -> str:
        validating = status in VALIDATING
        # A validation error's texts about the arguments are in lists, those of others alone.
        alone = list(self.data.values()) if isinstance(self.data, (dict, Mapping)) else []
        for entry in self.texts:
            if entry.has_code and not (validating and unwrap_path(entry.path)):
                if not validating or entry.code in CAUSES:
                    return entry.code
                if any(entry.text is value for value in alone):
                    return entry.code
        return ""

    def _find_texts(self, data: Any, path: Path) -> Iterator[ErrorText]:
        if isinstance(data, str):
            if data.strip():
                yield ErrorText(path, data)
        elif isinstance(data, (list, tuple)):
            for index, item in enumerate(data):
                text = item if isinstance(item, str) else ErrorObject.read_unplaced(item)
                if text is None:
                    yield from self._find_texts(item, (*path, index))
                else:
                    yield from self._find_texts(text, path)
        elif isinstance(data, (dict, Mapping)):
            whole = (api_settings.NON_FIELD_ERRORS_KEY, "__all__")
            error = None if PLACE_KEYS.isdisjoint(data) else ErrorObject(data)
            if error and error.path is not None and error.text is not None:
                path = tuple(p for p in error.path if p not in whole)
                yield ErrorText(path, error.text, error.document_path)
                return
            for key, value in data.items():
                # An argument may be called "detail" too; its own errors are in a list.
                is_general = key in whole or (key in WRAPPERS and isinstance(value, str))
                yield from self._find_texts(value, path if is_general else (*path, key))

    def _find_sentence(self, data: Any) -> str:
        parts: Iterable[Any] = ()
        if isinstance(data, Mapping):
            parts = (data.get(key) for key in MESSAGE_KEYS)
        elif isinstance(data, (list, tuple)):
            parts = data
        found = next(filter(None, map(self._find_sentence, parts)), "")
        return found or next((entry.text for entry in self._find_texts(data, ())), "")


class ErrorObject:
    """An object of an error body with one error, in one of the common forms."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data

    @classmethod
    def read_unplaced(cls, data: Any) -> ErrorDetail | None:
        # REST framework's own ``get_full_details`` writes them.
        if not isinstance(data, (dict, Mapping)) or not isinstance(data.get("code"), str):
            return None
        error = cls(data)
        return error.text if error.path is None else None

    @cached_property
    def path(self) -> Path | None:
        data = self.data
        loc, source = data.get("loc"), data.get("source")
        if isinstance(loc, (list, tuple)):
            path = tuple(part if isinstance(part, int) else str(part) for part in loc)
            return path[1:] if path[:1] and path[0] in REQUEST_PARTS else path
        if isinstance(source, Mapping) and isinstance(source.get("pointer"), str):
            fields = self._read_pointer(source["pointer"])[len(self.document_path[:1]) :]
            return fields[1:] if fields[:1] and fields[0] in DOCUMENT_PARTS else fields
        if isinstance(source, Mapping) and isinstance(source.get("parameter"), str):
            return (source["parameter"],)
        if isinstance(data.get("pointer"), str):
            return self._read_pointer(data["pointer"])
        # Null is the request as a whole.
        names = [data[key] or "" for key in NAME_KEYS if key in data]
        if not names or not isinstance(names[0], str):
            return None
        return self._read_names(INDEX.sub(r".\1", names[0]).split("."))

    @property
    def document_path(self) -> Path:
        source = self.data.get("source")
        pointer = source.get("pointer") if isinstance(source, Mapping) else None
        path = self._read_pointer(pointer) if isinstance(pointer, str) else ()
        return path if path[:1] == ("data",) else ()

    @cached_property
    def text(self) -> ErrorDetail | None:
        data = self.data
        texts = [data[key] for key in TEXT_KEYS if isinstance(data.get(key), str)]
        text = next((text for text in texts if text.strip()), None)
        if text is None:
            return None
        # Codes are words. A type may be a URL as well, and a number says nothing.
        codes = [data[key] for key in CODE_KEYS if isinstance(data.get(key), str)]
        words = (code for code in codes if code.replace("-", "_").isidentifier())
        code = next(words, str(getattr(text, "code", None) or "invalid"))
        return ErrorDetail(text, PYDANTIC_CODES.get(code, code))

    def _read_pointer(self, pointer: str) -> Path:
        # RFC 9457 writes a pointer as the fragment of a URI.
        path = pointer.removeprefix("#") if "/" in pointer else f"/{pointer}"
        return self._read_names(JSONPointer(path).path)

    def _read_names(self, names: Iterable[str]) -> Path:
        return tuple(int(name) if name.isdecimal() else name for name in names if name)


def unwrap_path(path: Path) -> Path:
    return tuple(dropwhile(lambda part: isinstance(part, int) or part in WRAPPERS, path))


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


@dataclass(frozen=True)
class Advice:
    """What to do about a failure.

    Attributes:
        english: one sentence.
        recoverable: False where no call can mend it; None as the category says.
    """

    english: str
    recoverable: bool | None = None

    @property
    def text(self) -> str:
        """The sentence in the language that is active."""
        return gettext(self.english)


NOT_SENT = Advice(
    _(
        "Do not repeat the call: the API asks for a header or a protocol that this tool does not"
        " send. Report it."
    ),
    recoverable=False,
)
UNKNOWN_EFFECT = Advice(
    _("Find out whether the call took effect; if it did not, try again later."), recoverable=True
)
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
