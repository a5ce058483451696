"""A bound call: a tool's arguments as the path, query and body of a request."""

from __future__ import annotations

import difflib
import functools
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from drf_mcp.introspection.accepted import SchemaWords
from drf_mcp.introspection.types import ClosedSet, Parameter
from drf_mcp.json_text import is_nested_deeper
from drf_mcp.outcomes import MISSING, Problem
from drf_mcp.tools.arguments.encoders import BodyEncoder
from drf_mcp.tools.arguments.errors import MAX_UNKNOWN, ArgumentsRefused
from drf_mcp.tools.arguments.masking import mask_secrets
from drf_mcp.tools.arguments.uploads import UploadPlaces

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
        return value if wanted is None else parse_json_text(value, wanted)

    def is_missing_in(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether the argument is missing; null is a value, though none for a path."""
        value = arguments.get(self.name, MISSING)
        return value is MISSING or (value is None and self.location == PATH)

    def query_pairs(self, value: Any) -> Iterator[tuple[str, str]]:
        """Yield the (key, text) pairs of a query argument; None is as good as not sent."""
        if value is None:
            return
        key = self.parameter.name
        if self.whole and isinstance(value, Mapping):
            for name, member in value.items():
                yield from Argument(name, QUERY, Parameter(name, {})).query_pairs(member)
        elif not isinstance(value, list):
            yield key, write_query_text(value)
        elif self.parameter.multiple == "comma":
            yield key, ",".join(map(write_query_text, value))
        else:
            for item in value:
                yield key, write_query_text(item)


def write_query_text(value: Any) -> str:
    """Write a JSON value the way it stands in a query string."""
    return value if isinstance(value, str) else json.dumps(value, allow_nan=False)


def parse_json_text(value: Any, wanted: type) -> Any:
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


class CallEncoder:
    """Encodes arguments that were sorted into path, query and body.

    Args:
        bodies: encodes the body.
        pointer: gives the JSON pointer of an argument.
    """

    def __init__(self, bodies: BodyEncoder, pointer: Callable[[Argument], str]) -> None:
        self.bodies = bodies
        self.pointer = pointer

    def encode(
        self, arguments: Mapping[str, Any], parts: Mapping[str, list[tuple[Argument, Any]]]
    ) -> Call:
        """Return the call of arguments.

        Args:
            arguments: what the caller sent.
            parts: the values by location.

        Raises:
            ArgumentsRefused: if a value has no place in the request.
        """
        kwargs = {argument.parameter.name: value for argument, value in parts[PATH]}
        body = self.get_body(parts[BODY])
        try:
            encoder = self.bodies.get_encoder(body)
            content = encoder.encode(body)
            query_string = urlencode([p for a, value in parts[QUERY] for p in a.query_pairs(value)])
        except (ValueError, TypeError, RecursionError) as exc:
            message = f"The arguments cannot be sent as a request: {exc}"
            remediation = "Correct the value and call again."
            raise ArgumentsRefused([Problem("invalid", message, remediation=remediation)]) from exc
        if ignored := list(islice(self.find_ignored(parts[QUERY]), MAX_UNKNOWN)):
            raise ArgumentsRefused(ignored)
        content_type = encoder.content_type if content else ""
        disposition = encoder.disposition if content else ""
        return Call(arguments, kwargs, query_string, content, content_type, disposition)

    def get_body(self, values: list[tuple[Argument, Any]]) -> Any:
        """Return the body that values make, `MISSING` for none."""
        body = self.read_files(values)
        for argument, value in body:
            if not argument.whole:
                continue
            if len(body) > 1:
                raise ArgumentsRefused([self.beside_whole_body(argument)])
            return value
        if body or self.bodies.expected:
            return {argument.parameter.name: value for argument, value in body}
        return MISSING

    def beside_whole_body(self, argument: Argument) -> Problem:
        """Return the problem of a whole body that came together with the fields of another."""
        name = argument.name
        return Problem(
            code="invalid",
            message=f"'{name}' is the whole body, so no other field of it can be sent.",
            pointer=self.pointer(argument),
            remediation=f"Send either '{name}' or the fields of one object, then call again.",
        )

    def read_files(self, body: list[tuple[Argument, Any]]) -> list[tuple[Argument, Any]]:
        """Return the values of the body with the files among them as uploads.

        Raises:
            ArgumentsRefused: if what should be a file is none, or not one that is taken.
        """
        problems: list[Problem] = []
        values = []
        for argument, value in body:
            uploads = argument.parameter.handling.uploads
            if uploads:
                value = UploadPlaces(uploads).read(value, self.pointer(argument), problems)
            values.append((argument, value))
        if problems:
            raise ArgumentsRefused(problems)
        return values

    def find_ignored(self, query: list[tuple[Argument, Any]]) -> Iterator[Problem]:
        """Yield a problem for each value of the query that the view would ignore in silence."""
        for argument, value in query:
            closed = argument.parameter.closed
            if closed is None or value is None:
                continue
            pointer = self.pointer(argument)
            texts = enumerate(value) if isinstance(value, list) else [(None, value)]
            for index, text in texts:
                at = pointer if index is None else f"{pointer}/{index}"
                for part in closed.ignored(write_query_text(text)):
                    yield self.ignored_value(part, at, argument.name, closed)

    def ignored_value(self, value: str, pointer: str, name: str, closed: ClosedSet) -> Problem:
        """Return the problem of a value that the view would ignore, with the nearest accepted."""
        nearest = difflib.get_close_matches(value, closed.choices, n=1)
        accepted = SchemaWords(closed.get_schema()).accepted or "another value"
        hint = f"Did you mean '{nearest[0]}'?" if nearest else f"Accepted: {accepted}."
        return Problem(
            code="invalid_choice",
            message=f"'{name}' takes no value '{value}'.",
            pointer=pointer,
            received=mask_secrets(value),
            accepted=accepted,
            remediation=f"{hint} Correct '{value}' or leave it out, then call again.",
        )
