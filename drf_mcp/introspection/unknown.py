"""Values that only a call knows, for a view that is asked without a call.

Such a value answers as an empty mapping does, and each read is noted: what code makes of it is not
known, whatever the code does with what it read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from django.http import QueryDict
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.versioning import QueryParameterVersioning, URLPathVersioning

from drf_mcp.introspection.inspection import negotiate

VERSION = frozenset({"version", "versioning_scheme"})
NEGOTIATED = VERSION | {"accepted_renderer", "accepted_media_type"}
BODY = frozenset({"body", "read", "readlines"})
PATH = frozenset({"path", "path_info", "get_full_path", "get_full_path_info", "build_absolute_uri"})


class NotKnown(KeyError):
    """A value was needed that only a call knows."""


class Notes:
    """Counts the reads of values that only a call knows.

    Attributes:
        reads: how many there were.
    """

    def __init__(self) -> None:
        self.reads = 0
        self._is_quiet = False

    def add(self) -> None:
        self.reads += not self._is_quiet

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

    def __init__(self, notes: Notes) -> None:
        super().__init__(mutable=True)
        self._notes = notes

    def __getitem__(self, key: Any) -> Any:
        self._notes.add()
        raise NotKnown(key)

    def get(self, key: Any, default: Any = None) -> Any:
        self._notes.add()
        return default

    def getlist(self, key: Any, default: Any = None) -> Any:
        self._notes.add()
        return [] if default is None else default

    def pop(self, key: Any, *default: Any) -> Any:
        self._notes.add()
        if not default:
            raise NotKnown(key)
        return default[0]

    def setdefault(self, key: Any, default: Any = None) -> Any:
        self._notes.add()
        return default

    def copy(self) -> UnknownMapping:
        self._notes.add()
        return self

    def __copy__(self) -> UnknownMapping:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> UnknownMapping:
        return self.copy()

    def __or__(self, other: Any) -> Any:
        self._notes.add()
        return dict(other)

    __ror__ = __or__

    def __hash__(self) -> int:  # type: ignore[override]
        return id(self)


def _noted(name: str) -> Any:
    inherited = getattr(QueryDict, name)

    def read(self: UnknownMapping, *args: Any, **kwargs: Any) -> Any:
        self._notes.add()
        return inherited(self, *args, **kwargs)

    return read


for _name in ("__contains__", "__iter__", "__len__", "__eq__", "__ne__", "keys", "values", "items"):
    setattr(UnknownMapping, _name, _noted(_name))
for _name in ("lists", "dict", "urlencode", "popitem", "__str__", "__repr__"):
    setattr(UnknownMapping, _name, _noted(_name))


class UnknownKwargs(dict[str, Any]):
    """What the URL of a call captures. The names are known, the values are not.

    Args:
        names: the names of the route.
    """

    def __init__(self, names: Collection[str], notes: Notes) -> None:
        super().__init__()
        self._names = tuple(names)
        self._notes = notes

    def __getitem__(self, key: str) -> Any:
        if key in self._names:
            self._notes.add()
            raise NotKnown(key)
        raise KeyError(key)

    def get(self, key: str, default: Any = None) -> Any:
        if key in self._names:
            self._notes.add()
        return default

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
        if self._names:
            self._notes.add()
        return {}.values()

    def items(self) -> Any:
        if self._names:
            self._notes.add()
        return {}.items()


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
        return UnknownMapping(self.notes)

    GET = query_params

    @property
    def data(self) -> Any:
        return {} if self.method in SAFE_METHODS else UnknownMapping(self.notes)

    POST = FILES = data

    def __getattr__(self, name: str) -> Any:
        is_unknown = (
            (name in VERSION and chooses_version(self.__dict__.get("view")))
            or (name in BODY and self.method not in SAFE_METHODS)
            or (name in PATH and self.has_placeholders)
        )
        if is_unknown:
            self.notes.add()
        return super().__getattr__(name)


def chooses_version(view: Any) -> bool:
    """Return whether the path or the query of a call names the version."""
    versioning = getattr(view, "versioning_class", None)
    chosen = (URLPathVersioning, QueryParameterVersioning)
    return isinstance(versioning, type) and issubclass(versioning, chosen)
