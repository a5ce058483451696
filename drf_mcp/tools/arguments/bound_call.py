"""A bound call: a tool's arguments as the path, query and body of a request."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from drf_mcp.introspection.describer import Parameter
from drf_mcp.json_text import is_nested_deeper
from drf_mcp.outcomes import MISSING, Problem
from drf_mcp.tools.arguments.encoders import BodyEncoder
from drf_mcp.tools.arguments.errors import (
    MAX_UNKNOWN,
    ArgumentsRefused,
    beside_whole,
    cannot_encode,
    ignored_value,
)
from drf_mcp.tools.arguments.uploads import with_uploads

# Of objects and arrays inside one another in a text that stands for one; a message has no more.
MAX_DEPTH = 100

PATH, QUERY, BODY = "path", "query", "body"
ANSWER = "answer"
"""The location of an argument that is for the answer and no part of the request."""


@dataclass(frozen=True)
class Argument:
    """One argument: the caller's name for a parameter of the request.

    Attributes:
        name: the portable name the caller uses.
        location: ``path``, ``query``, ``body`` or ``answer``.
        parameter: the view's own name, its schema and its style.
        whole: the argument is the whole body, or the whole further query.
    """

    name: str
    location: str
    parameter: Parameter
    whole: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the value."""
        return self.parameter.schema

    @functools.cached_property
    def json_type(self) -> str:
        """The JSON type of the value, null aside; "" if it may be of several."""
        types = self.schema.get("type", "")
        others = [name for name in types if name != "null"] if isinstance(types, list) else [types]
        return others[0] if len(others) == 1 else ""

    @property
    def is_list(self) -> bool:
        """True if the value can only be an array."""
        return self.json_type == "array"

    @property
    def required(self) -> bool:
        """True if the call cannot be made without it."""
        return self.parameter.required

    @property
    def listed(self) -> bool:
        """True if the tool's schema has it."""
        return self.parameter.listed

    def from_text(self, text: str) -> Any:
        """Return the value that a text in a query string stands for."""
        return int(text) if self.json_type == "integer" and text.isdigit() else text

    def read(self, value: Any) -> Any:
        """Return the value, parsed when a client sent an object or array as a string."""
        wanted = {"object": dict, "array": list}.get(self.json_type)
        return value if wanted is None else parsed(value, wanted)


def parsed(value: Any, wanted: type) -> Any:
    """Return what a string holds as JSON if it is of the wanted type, else the value."""
    if not isinstance(value, str):
        return value
    try:
        held = json.loads(value)
    except (ValueError, RecursionError):
        return value
    if is_nested_deeper(value, MAX_DEPTH):
        return value
    return held if isinstance(held, wanted) else value


@dataclass(frozen=True)
class Call:
    """A bound call: everything that arguments decide of the request, and of its answer.

    Attributes:
        arguments: what the caller sent.
        kwargs: the path's kwargs.
        query_string: the encoded query, without its question mark.
        body: the encoded body; empty when there is none.
        content_type: the body's media type; "" when there is none.
        disposition: the body's Content-Disposition, which names a file sent as it is.
        fields: the paths of the fields that the answer is to have; () for all.
    """

    arguments: Mapping[str, Any]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    query_string: str = ""
    body: bytes = b""
    content_type: str = ""
    disposition: str = ""
    fields: tuple[str, ...] = ()


def make_call(
    arguments: Mapping[str, Any],
    parts: Mapping[str, list[tuple[Argument, Any]]],
    bodies: BodyEncoder,
    pointer: Callable[[Argument], str],
) -> Call:
    """Encode what was sorted into path, query and body.

    Args:
        arguments: what the caller sent.
        parts: its values by location.
        bodies: encodes the body.
        pointer: gives the JSON pointer of an argument.
    """
    kwargs = {argument.parameter.name: value for argument, value in parts[PATH]}
    body = received(parts[BODY], pointer)
    value: Any = MISSING
    whole = [(argument, value) for argument, value in body if argument.whole]
    if whole and len(body) > 1:
        raise ArgumentsRefused([beside_whole(whole[0][0].name, pointer(whole[0][0]))])
    if whole:
        value = whole[0][1]
    elif body or bodies.expected:
        value = {argument.parameter.name: value for argument, value in body}
    try:
        encoder = bodies.encoder_of(value)
        content = encoder.encode(value)
        query_string = urlencode([p for a, member in parts[QUERY] for p in query_pairs(a, member)])
    except (ValueError, TypeError, RecursionError) as exc:
        raise ArgumentsRefused([cannot_encode(exc)]) from exc
    if ignored := list(islice(ignored_values(parts[QUERY], pointer), MAX_UNKNOWN)):
        raise ArgumentsRefused(ignored)
    content_type = encoder.content_type if content else ""
    disposition = encoder.disposition if content else ""
    return Call(arguments, kwargs, query_string, content, content_type, disposition)


def received(
    body: list[tuple[Argument, Any]], pointer: Callable[[Argument], str]
) -> list[tuple[Argument, Any]]:
    """Return the values of the body with the files among them as uploads.

    Raises:
        ArgumentsRefused: if what should be a file is none, or not one that is taken.
    """
    problems: list[Problem] = []
    values = [
        (argument, with_uploads(value, uploads, pointer(argument), problems) if uploads else value)
        for argument, value in body
        for uploads in (argument.parameter.handling.uploads,)
    ]
    if problems:
        raise ArgumentsRefused(problems)
    return values


def ignored_values(
    query: list[tuple[Argument, Any]], pointer: Callable[[Argument], str]
) -> Iterator[Problem]:
    """Yield a problem for each value of the query that the view would ignore in silence."""
    for argument, value in query:
        closed = argument.parameter.closed
        if closed is None or value is None:
            continue
        at = pointer(argument)
        texts = enumerate(value) if isinstance(value, list) else [(None, value)]
        for index, text in texts:
            place = at if index is None else f"{at}/{index}"
            for part in closed.ignored(query_text(text)):
                yield ignored_value(part, place, argument.name, closed)


def query_pairs(argument: Argument, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the (key, text) pairs of a query argument; None is as good as not sent."""
    if value is None:
        return
    key = argument.parameter.name
    if argument.whole and isinstance(value, Mapping):
        for name, member in value.items():
            yield from query_pairs(Argument(name, QUERY, Parameter(name, {})), member)
    elif not isinstance(value, list):
        yield key, query_text(value)
    elif argument.parameter.multiple == "comma":
        yield key, ",".join(query_text(item) for item in value)
    else:
        for item in value:
            yield key, query_text(item)


def query_text(value: Any) -> str:
    """Write a JSON value the way it stands in a query string."""
    if isinstance(value, str):
        return value
    return json.dumps(value, allow_nan=False)
