"""Values that only a call knows, for a view that is asked without a call.

Such a value answers as an empty mapping does, and each read is noted: what code makes of it is not
known, whatever the code does with what it read. Code that chooses is asked again with answers that
it may compare with.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.http import QueryDict
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.versioning import QueryParameterVersioning, URLPathVersioning

from drf_mcp.introspection.findings import find_calling_line
from drf_mcp.introspection.inspection import (
    Inspection,
    kept_transactions,
    negotiate,
    refuse_query,
    wrapped_queries,
)

VERSION = frozenset({"version", "versioning_scheme"})
NEGOTIATED = VERSION | {"accepted_renderer", "accepted_media_type"}
BODY = frozenset({"body", "read", "readlines"})
PATH = frozenset({"path", "path_info", "get_full_path", "get_full_path_info", "build_absolute_uri"})


class NotKnown(KeyError):
    """A value was needed that only a call knows."""


# The answer of an empty mapping.
EMPTY: Any = object()
# The answer for code that asks only whether something was sent.
ANY_VALUE = "1"
# How often a choice is asked.
MOST_ASKED = 48


class Notes:
    """The reads of values that only a call knows.

    Attributes:
        reads: how many there were.
        places: what was read, such as ``data``, ``query``, ``kwargs`` or ``caller``.
        keys: the keys that were read of the body.
        line: the line of the project's code that read first, "" for none.
        answer: the value of each key; by default the answer of an empty mapping.
    """

    def __init__(self, answer: Any = EMPTY, *, keeps_line: bool = False) -> None:
        self.reads = 0
        self.places: set[str] = set()
        self.keys: dict[str, None] = {}
        self.line = ""
        self.answer = answer
        self._keeps_line = keeps_line
        self._is_quiet = False

    def add(self, place: str = "data", key: Any = None) -> None:
        if self._is_quiet:
            return
        self.reads += 1
        self.places.add(place)
        if place == "data" and isinstance(key, str):
            self.keys[key] = None
        if self._keeps_line and not self.line:
            self.line = find_calling_line()

    def make_answer(self, default: Any) -> Any:
        return default if self.answer is EMPTY or self._is_quiet else self.answer

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Note nothing meanwhile: REST framework's own code reads what it needs."""
        before, self._is_quiet = self._is_quiet, True
        try:
            yield
        finally:
            self._is_quiet = before


class UnknownMapping(QueryDict):
    """The body or the query of a call that is not made."""

    def __init__(self, notes: Notes, place: str = "data") -> None:
        super().__init__(mutable=True)
        self._notes = notes
        self._place = place

    def _note(self, key: Any = None) -> None:
        self._notes.add(self._place, key)

    def __getitem__(self, key: Any) -> Any:
        self._note(key)
        found = self._notes.make_answer(EMPTY)
        if found is EMPTY:
            raise NotKnown(key)
        return found

    def get(self, key: Any, default: Any = None) -> Any:
        self._note(key)
        return self._notes.make_answer(default)

    def getlist(self, key: Any, default: Any = None) -> Any:
        self._note(key)
        found = self._notes.make_answer(EMPTY)
        return [found] if found is not EMPTY else [] if default is None else default

    def pop(self, key: Any, *default: Any) -> Any:
        return self.get(key, default[0]) if default else self[key]

    def setdefault(self, key: Any, default: Any = None) -> Any:
        return self.get(key, default)

    def copy(self) -> UnknownMapping:
        self._note()
        return self

    def __copy__(self) -> UnknownMapping:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> UnknownMapping:
        return self.copy()

    def __or__(self, other: Any) -> Any:
        self._note()
        return dict(other)

    __ror__ = __or__

    def __contains__(self, key: Any) -> bool:
        self._note(key)
        return self._notes.make_answer(EMPTY) is not EMPTY

    def __len__(self) -> int:
        self._note()
        return int(self._notes.make_answer(EMPTY) is not EMPTY)

    def __hash__(self) -> int:  # type: ignore[override]
        return id(self)


def _noted(name: str) -> Any:
    inherited = getattr(QueryDict, name)

    def read(self: UnknownMapping, *args: Any, **kwargs: Any) -> Any:
        self._note()
        return inherited(self, *args, **kwargs)

    return read


for _name in ("__iter__", "__eq__", "__ne__", "keys", "values", "items"):
    setattr(UnknownMapping, _name, _noted(_name))
for _name in ("lists", "dict", "urlencode", "popitem", "__str__", "__repr__"):
    setattr(UnknownMapping, _name, _noted(_name))


class UnknownKwargs(dict[str, Any]):
    """What the URL of a call captures. The names are known, the values are not.

    Args:
        names: the names of the route, with a value of the right type for each where there is one.
    """

    def __init__(self, names: Collection[str], notes: Notes) -> None:
        super().__init__()
        self._names = tuple(names)
        self._values = names if isinstance(names, Mapping) else {}
        self._notes = notes

    def __getitem__(self, key: str) -> Any:
        found = self.get(key, EMPTY)
        if found is not EMPTY:
            return found
        raise NotKnown(key) if key in self._names else KeyError(key)

    def get(self, key: str, default: Any = None) -> Any:
        if key not in self._names:
            return default
        self._notes.add("kwargs", key)
        return self._notes.make_answer(self._values.get(key, default))

    def pop(self, key: str, *default: Any) -> Any:
        if key in self._names or not default:
            return self[key]
        return default[0]

    def copy(self) -> UnknownKwargs:
        return self

    def __contains__(self, key: object) -> bool:
        return key in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __bool__(self) -> bool:
        return bool(self._names)

    def keys(self) -> Any:
        return dict.fromkeys(self._names).keys()

    def values(self) -> Any:
        return dict(self.items()).values()

    def items(self) -> Any:
        if self._names:
            self._notes.add("kwargs")
        return {name: self.get(name) for name in self._values}.items()


class UnknownHeaders(dict[str, Any]):
    """The headers of a call that is not made.

    Args:
        known: the headers that are known.
        prefix: the beginning of the keys of headers, among other facts of the server's.
    """

    def __init__(self, known: Any, notes: Notes, prefix: str = "") -> None:
        super().__init__(known)
        self._notes = notes
        self._prefix = prefix

    def get(self, key: str, default: Any = None) -> Any:
        known = {name.lower(): value for name, value in self.items()}
        if key.lower() in known or not key.startswith(self._prefix):
            return known.get(key.lower(), default)
        self._notes.add("headers", key)
        return self._notes.make_answer(default)

    def __getitem__(self, key: str) -> Any:
        found = self.get(key, EMPTY)
        if found is EMPTY:
            raise KeyError(key)
        return found

    def __contains__(self, key: object) -> bool:
        return self.get(str(key), EMPTY) is not EMPTY


class AskedRequest(Request):
    """A request that is negotiated when code reads the result, which few permissions do.

    Attributes:
        view: the view that is asked.
        notes: what code reads that only a call knows.
        has_placeholders: whether the path has placeholders.
    """

    view: Any
    notes: Notes
    has_placeholders = False

    def __getattr__(self, name: str) -> Any:
        if name not in NEGOTIATED or "view" not in self.__dict__:
            return super().__getattr__(name)  # type: ignore[misc]
        # By REST framework's own code, which finds the defaults where nothing is sent.
        view, kwargs = self.view, self.view.kwargs
        if isinstance(kwargs, UnknownKwargs):
            view.kwargs = {}
        try:
            with self.notes.quiet():
                negotiate(view)
        finally:
            view.kwargs = kwargs
        return self.__dict__[name]


class UnknownRequest(AskedRequest):
    """The request of a call that is not made."""

    @property
    def query_params(self) -> Any:
        return UnknownMapping(self.notes, "query")

    GET = query_params

    @property
    def data(self) -> Any:
        return {} if self.method in SAFE_METHODS else UnknownMapping(self.notes)

    POST = FILES = data

    def __getattr__(self, name: str) -> Any:
        is_unknown = (
            (name in VERSION and _chooses_version(self.__dict__.get("view")))
            or (name in BODY and self.method not in SAFE_METHODS)
            or (name in PATH and self.has_placeholders)
        )
        if is_unknown:
            self.notes.add("version" if name in VERSION else "data" if name in BODY else "path")
        return super().__getattr__(name)


def _chooses_version(view: Any) -> bool:
    """Return whether the path or the query of a call names the version."""
    versioning = getattr(view, "versioning_class", None)
    chosen = (URLPathVersioning, QueryParameterVersioning)
    return isinstance(versioning, type) and issubclass(versioning, chosen)


class DescribedRequest(UnknownRequest):
    """The request of a call that is not made, for a view that is described.

    Attributes:
        sample: the sample user of the caller.
    """

    sample: Any = None

    @property
    def user(self) -> Any:
        self.notes.add("caller")
        return self.sample

    @user.setter
    def user(self, value: Any) -> None:
        self._request.user = self.sample = value

    @property
    def auth(self) -> Any:
        self.notes.add("caller")
        return None

    @auth.setter
    def auth(self, value: Any) -> None:
        pass

    @property
    def version(self) -> Any:
        if getattr(self.view, "versioning_class", None) is not None:
            self.notes.add("version")
        return self.notes.make_answer(self.__dict__.get("version"))

    @version.setter
    def version(self, value: Any) -> None:
        self.__dict__["version"] = value

    @property
    def META(self) -> Any:  # type: ignore[override]
        return UnknownHeaders(self._request.META, self.notes, "HTTP_")

    @property
    def headers(self) -> Any:
        return UnknownHeaders(self._request.headers, self.notes)

    @property
    def COOKIES(self) -> Any:  # type: ignore[override]
        return UnknownHeaders({}, self.notes)


@contextmanager
def without_database(notes: Notes) -> Iterator[None]:
    """Refuse and note each statement of any database, and leave open transactions as they were."""

    def refuse(*args: Any) -> Any:
        notes.add("rows")
        return refuse_query(*args)

    with kept_transactions(), wrapped_queries(refuse):
        yield


def start_asking(inspection: Inspection, notes: Notes, user: Any = None) -> Inspection:
    """Return an inspection of the view in which what only a call knows is unknown."""
    view, usual = copy.copy(inspection.new_view), inspection.new_view.request
    vars(view).pop("swagger_fake_view", None)
    with notes.quiet():
        request = DescribedRequest(usual._request)
        request.notes, request.view = notes, view
        request.user = usual.user if user is None else user
        for name in ("accepted_renderer", "accepted_media_type", "version", "versioning_scheme"):
            setattr(request, name, getattr(usual, name, None))
    view.request, view.kwargs = request, UnknownKwargs(dict(view.kwargs), notes)

    def get_object(*args: Any, **kwargs: Any) -> Any:
        notes.add("object")
        raise NotKnown("get_object")

    view.get_object = get_object
    return Inspection(view, inspection.method, write_schema=inspection.write_schema)
