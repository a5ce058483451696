"""The argument ``fields`` of a read: only some of the fields of its answer.

It never reaches the view. What the view answered is selected from afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from drf_mcp.introspection.field_selection import (
    field_paths,
    names_all,
    nearest_path,
    unknown_paths,
)
from drf_mcp.introspection.names import portable_name
from drf_mcp.introspection.types import EndpointSchema, Parameter, Schema
from drf_mcp.outcomes import Problem
from drf_mcp.tools.arguments.bound_call import ANSWER, Argument
from drf_mcp.tools.arguments.errors import MAX_UNKNOWN, ArgumentsRefused
from drf_mcp.tools.arguments.masking import mask_secrets

NAME = "fields"
PURPOSE = "Only these fields of the answer; all by default."
# An enumeration of more paths, or of longer ones together, costs more than it helps.
MAX_PATHS = 40
MAX_CHARACTERS = 600


@dataclass(frozen=True)
class FieldsArgument(Argument):
    """The argument that names fields of the answer.

    Attributes:
        output: the schema of the answer.
    """

    output: Schema = field(default_factory=dict)

    def asked(self, value: Any, pointer: str) -> tuple[str, ...]:
        """Return the paths that a value names, each once; none asks for everything.

        Args:
            value: an array of paths, or one text with commas between them.
            pointer: the JSON pointer of the value.

        Raises:
            ArgumentsRefused: on anything else, and on paths that lead to nothing.
        """
        named = dict(self.named_paths(value, pointer))
        unknown = list(islice(unknown_paths(named, self.output), MAX_UNKNOWN))
        if unknown:
            known = field_paths(self.output)
            raise ArgumentsRefused([self.unknown_field(p, named[p], known) for p in unknown])
        return tuple(named)

    @classmethod
    def for_endpoint(cls, endpoint: EndpointSchema) -> FieldsArgument | None:
        """Return the argument; None where no fields are known or one of its name is declared."""
        known = field_paths(endpoint.output)
        declared = (*endpoint.path, *endpoint.query, *endpoint.body.fields)
        if not known or any(portable_name(parameter.name) == NAME for parameter in declared):
            return None
        schema = build_fields_schema(known, enumerated=names_all(endpoint.output))
        return cls(NAME, ANSWER, Parameter(NAME, schema), output=endpoint.output)

    def named_paths(self, value: Any, pointer: str) -> Iterator[tuple[str, str]]:
        """Yield the paths that a value names, each with its JSON pointer.

        Raises:
            ArgumentsRefused: if the value is neither an array of texts nor a text; null is as
                good as not sent.
        """
        items = value if isinstance(value, list) else [] if value is None else [value]
        for index, item in enumerate(items):
            at = f"{pointer}/{index}" if items is value else pointer
            if not isinstance(item, str):
                raise ArgumentsRefused([self.not_a_path(item, at)])
            yield from ((part.strip(), at) for part in item.split(",") if part.strip())

    def not_a_path(self, value: Any, pointer: str) -> Problem:
        """Return the problem of a value that names no field."""
        return Problem(
            code="invalid",
            message="Fields are named by text.",
            pointer=pointer,
            received=mask_secrets(value),
            accepted="an array of strings",
            remediation='Send an array of field names, such as ["id"], and call again.',
        )

    def unknown_field(self, path: str, pointer: str, known: list[str]) -> Problem:
        """Return the problem of a path that leads to nothing, with the nearest that does not."""
        nearest = nearest_path(path, known)
        hint = f"Did you mean '{nearest}'?" if nearest else f"The fields are: {join_paths(known)}."
        return Problem(
            code="unknown",
            message=f"Unknown field '{path}'.",
            pointer=pointer,
            received=path,
            accepted=nearest or join_paths(known),
            remediation=f"{hint} Correct '{path}' or leave it out, then call again.",
        )


def build_fields_schema(known: list[str], *, enumerated: bool) -> Schema:
    """Return the schema of an array of paths, enumerated where that is short enough."""
    if enumerated and len(known) <= MAX_PATHS and sum(map(len, known)) <= MAX_CHARACTERS:
        items = {"type": "string", "enum": known}
        return {"type": "array", "items": items, "description": PURPOSE}
    nested = next((path for path in known if "." in path), None)
    dots = f" Nested ones by dots, such as {nested}." if nested else ""
    outermost = join_paths([path for path in known if "." not in path])
    description = f"{PURPOSE}{dots} Among them: {outermost}."
    return {"type": "array", "items": {"type": "string"}, "description": description}


def join_paths(known: list[str]) -> str:
    """Return the first paths in words, as many as an enumeration may have."""
    shown: list[str] = []
    for path in known[:MAX_PATHS]:
        if sum(map(len, shown)) + len(path) > MAX_CHARACTERS:
            break
        shown.append(path)
    return ", ".join(shown) + (", …" if len(shown) < len(known) else "")
