"""JSON as REST framework's own renderer writes it."""

from __future__ import annotations

import datetime
import decimal
import json
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from rest_framework.utils.encoders import JSONEncoder

from drf_mcp.json_text import JSONPointer

ENCODER = JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
# What Python's json writes as the name of a member.
KEYS = (str, int, float, type(None))
# What REST framework writes as text or as a number, the commonest of what Python cannot write.
TEXTS = (Promise, datetime.date, datetime.time, datetime.timedelta, decimal.Decimal, uuid.UUID)


def encode_data(value: Any) -> str:
    return ENCODER.encode(value)


class AnswerEncoder(JSONEncoder):
    """Writes an answer any number of times, but reads what is lazy in it only once.

    REST framework writes a queryset, a generator, a ``map`` and their like as an array. The
    first reading is kept for the next.
    """

    def __init__(self) -> None:
        super().__init__(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        self.unread: Any = None
        # Holds the iterable too: the id of one that is gone could come back.
        self._read: dict[int, tuple[Any, tuple[Any, ...]]] = {}

    def default(self, obj: Any) -> Any:
        if isinstance(obj, TEXTS) or not self.is_lazy(obj):
            return super().default(obj)
        if id(obj) not in self._read:
            self.unread = obj
            self._read[id(obj)] = (obj, tuple(obj))
            self.unread = None
        return self._read[id(obj)][1]

    def is_lazy(self, obj: Any) -> bool:
        if isinstance(obj, QuerySet):
            return True
        return hasattr(obj, "__iter__") and not (
            isinstance(obj, (bytes, type)) or hasattr(obj, "tolist") or hasattr(obj, "__getitem__")
        )

    def plain(self, value: Any) -> Any:
        return json.loads(self.encode(value))

    def can_encode(self, value: Any) -> bool:
        try:
            self.encode(value)
        except (TypeError, ValueError, RecursionError):
            return False
        return True

    def find_fault(self, value: Any) -> tuple[str, str] | None:
        # The pointer and the type, never the value itself.
        pointer, parents = "", {id(value)}
        if self.can_encode(value):
            return None
        while True:
            faulty = ((name, v) for name, v in get_members(value) if not self.can_encode(v))
            name, value = next(faulty, (None, value))
            if name is None:
                return pointer, describe_fault(value)
            pointer = JSONPointer.from_parent(pointer, str(name))
            if id(value) in parents:
                return pointer, _("a part of itself")
            parents.add(id(value))


def get_members(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, Mapping):
        yield from ((name, item) for name, item in value.items() if isinstance(name, KEYS))
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from enumerate(value)


def describe_fault(value: Any) -> str:
    kind = type(value).__name__
    if isinstance(value, Mapping):
        keys = (type(name).__name__ for name in value if not isinstance(name, KEYS))
        # Translators: ends, as the next four, "The answer cannot be written as JSON: /data is …"
        return _("an object with a name of type %(type)s") % {"type": next(keys, kind)}
    if isinstance(value, bytes):
        return _("of type bytes, and not UTF-8")
    if isinstance(value, float):
        return _("NaN or an infinity")
    return _("of type %(type)s") % {"type": kind}
