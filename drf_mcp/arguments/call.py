"""One argument of a tool, and the arguments of one call."""

from __future__ import annotations

import functools
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Any
from urllib.parse import urlencode

from django.core.files.uploadedfile import UploadedFile
from django.utils.datastructures import MultiValueDict

from drf_mcp.introspection.names import make_portable_name
from drf_mcp.introspection.types import MemberNames, Parameter, Place, Upload, find_uploads
from drf_mcp.json_text import JSONPointer, parse_json_text
from drf_mcp.outcomes import MISSING, Warning

PATH, QUERY, BODY = "path", "query", "body"
# The location of the argument that selects fields of the answer.
ANSWER = "answer"
# The location of arguments that a guard reads.
CONTROL = "mcp"
SEPARATORS = {"comma": ",", "space": " ", "pipe": "|"}
CONTAINERS = {"object": dict, "array": list}


@dataclass(frozen=True)
class Argument:
    """One argument: the caller's name for a parameter of the request.

    Attributes:
        location: the part of the request: `PATH`, `QUERY` or `BODY`; else `ANSWER` or `CONTROL`.
        parameter: the parameter, with the view's own name.
        whole: True for the whole body, or the object of further query parameters.
        group: the name of the argument that this one is a member of, "" for none.
    """

    name: str
    location: str
    parameter: Parameter
    whole: bool = False
    group: str = ""

    @functools.cached_property
    def json_type(self) -> str:
        """The type besides null, "" for none or several."""
        types = self.parameter.schema.get("type", "")
        others = [name for name in types if name != "null"] if isinstance(types, list) else [types]
        return others[0] if len(others) == 1 else ""

    @functools.cached_property
    def uploads(self) -> Mapping[Place, Upload]:
        """The files among the values, by place."""
        return find_uploads(self.parameter.value_info)

    @functools.cached_property
    def members(self) -> Mapping[Place, MemberNames]:
        """The members of the objects of nested serializers, by place."""
        infos = self.parameter.value_info.items()
        return {place: info.members for place, info in infos if info.members is not None}

    @property
    def required(self) -> bool:
        return self.parameter.required

    @property
    def listed(self) -> bool:
        return self.parameter.listed

    @property
    def pointer(self) -> str:
        name = JSONPointer.escape(self.name)
        return f"/{self.group}/{name}" if self.group else f"/{name}"

    def from_text(self, text: str) -> Any:
        return int(text) if self.json_type == "integer" and text.isdigit() else text

    def read(self, value: Any) -> Any:
        # Some clients send an object or array as a string.
        kind = self.json_type
        return parse_json_text(value, CONTAINERS[kind]) if kind in CONTAINERS else value

    def is_missing_in(self, arguments: Mapping[str, Any]) -> bool:
        # Null is a value, but not in a path.
        value = arguments.get(self.name, MISSING)
        return value is MISSING or (value is None and self.location == PATH)

    def make_query_pairs(self, value: Any) -> Iterator[tuple[str, str]]:
        if value is None:
            return
        key, style = self.parameter.name, self.parameter.multiple
        is_object = isinstance(value, Mapping)
        if is_object and (self.whole or style in ("deep", "members")):
            for name, member in value.items():
                inside = f"{key}[{name}]" if style == "deep" else name
                parameter = Parameter(inside, {}, multiple="deep" if style == "deep" else None)
                yield from Argument(name, QUERY, parameter).make_query_pairs(member)
        elif is_object and style in SEPARATORS:
            yield from self.make_query_pairs([part for pair in value.items() for part in pair])
        elif not isinstance(value, list):
            yield key, write_query_text(value)
        elif style in SEPARATORS:
            yield key, SEPARATORS[style].join(map(write_query_text, value))
        else:
            for item in value:
                yield key, write_query_text(item)

    def find_in_request(
        self, kwargs: Mapping[str, Any], query: MultiValueDict[str, str], body: Any
    ) -> Any:
        name = self.parameter.name
        if self.location == PATH:
            return kwargs.get(name, MISSING)
        if self.location == BODY:
            if not self.whole:
                return body.get(name, MISSING) if isinstance(body, Mapping) else MISSING
            # The fields of one object are arguments of their own, also where a list is taken.
            is_object = isinstance(body, Mapping) and not self.required
            return MISSING if is_object and self.json_type == "array" else body
        texts = [] if self.whole else query.getlist(name)
        if not texts:
            return MISSING
        return texts if self.json_type == "array" else self.from_text(texts[-1])


def find_possible_names(name: str, location: str) -> Iterator[str]:
    """Yield the name of an argument, then those to take where another argument has this name."""
    further = f"{name}_{location}"
    numbered = (f"{further}_{number}" for number in count(2))
    return map(make_portable_name, chain((name, further), numbered))


def write_query_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, allow_nan=False)


def write_query(values: Iterable[tuple[Argument, Any]]) -> str:
    """Return the query of arguments with their values."""
    return urlencode(
        [pair for argument, value in values for pair in argument.make_query_pairs(value)]
    )


class Pieces(io.RawIOBase):
    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.pieces = pieces
        self.rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self.rest or memoryview(next(filter(None, self.pieces), b""))
        count = min(len(buffer), len(piece))
        buffer[:count] = piece[:count]
        self.rest = piece[count:]
        return count


class FilesBody:
    """A body with files in it, which is copied only as far as a view reads it.

    Args:
        parts: the files, and the bytes between them.
    """

    def __init__(self, parts: Iterable[bytes | UploadedFile[Any]]) -> None:
        self.parts = tuple(parts)

    def __iter__(self) -> Iterator[bytes]:
        for part in self.parts:
            yield from [part] if isinstance(part, bytes) else part.chunks()

    def __len__(self) -> int:
        return sum(len(p) if isinstance(p, bytes) else p.size or 0 for p in self.parts)

    def __bytes__(self) -> bytes:
        return b"".join(self)

    def open(self) -> io.BufferedReader:
        """Return a stream of the whole body."""
        return io.BufferedReader(Pieces(iter(self)), 2**16)


@dataclass
class Call:
    """The arguments of a call, as the path, query and body of a request.

    Attributes:
        arguments: the arguments as the caller sent them.
        query_string: without its question mark.
        disposition: the Content-Disposition of a body that is one file.
        headers: further headers of the request, by their names in ``request.META``.
        fields: the paths of the selected fields of the answer; () for all.
        many: the path kwarg that has a list of values, one for each object; "" for one object.
        items: the calls for the objects in ``items``, () for one object.
        controls: the values of the guards' arguments, by the guards' names, without nulls.
        warnings: what to know of the arguments; the first warnings of the answer.
    """

    arguments: Mapping[str, Any]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    query_string: str = ""
    body: bytes | FilesBody = b""
    content_type: str = ""
    disposition: str = ""
    fields: tuple[str, ...] = ()
    many: str = ""
    controls: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    items: tuple[Call, ...] = ()
    warnings: tuple[Warning, ...] = ()

    @property
    def is_batch(self) -> bool:
        return bool(self.many or self.items)

    @property
    def requests(self) -> Sequence[Call]:
        """The calls that make one request each: the call itself, or one for each object."""
        if not self.many:
            return self.items or [self]
        return [
            replace(self, kwargs={**self.kwargs, self.many: value}, many="")
            for value in self.kwargs[self.many]
        ]
