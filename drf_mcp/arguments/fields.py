"""The arguments ``fields`` and ``ids``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from django.utils.datastructures import MultiValueDict

from drf_mcp.arguments.call import ANSWER, PATH, Argument
from drf_mcp.arguments.errors import (
    MAX_UNKNOWN,
    ArgumentsRefused,
    mask_secrets,
    refuse_many,
    suggest,
)
from drf_mcp.introspection.field_schema import FieldSchema, explain
from drf_mcp.introspection.field_selection import (
    FieldSelection,
    Omission,
    SelectableFields,
    find_nearest_path,
    infer_schema,
    may_have_others,
)
from drf_mcp.introspection.names import make_portable_name
from drf_mcp.introspection.types import EndpointSchema, Parameter, Schema
from drf_mcp.outcomes import MISSING, Problem, Warning
from drf_mcp.settings import mcp_settings

FIELDS = "fields"
IDS = "ids"
UNKNOWN_FIELD = "UNKNOWN_FIELD"
ONLY_THESE = "Only these fields of the answer."
# Above these the names of the fields cost more tokens than a selection saves: the paths in an
# enumeration, in a flat object, and in a pattern or in words.
MAX_ENUM = 12
# Levels in one name of `fields`, such as 2 in `customer.name`.
MAX_LEVELS = 20
MAX_SHORT = 16
MAX_PATHS = 40
MAX_CHARACTERS = 600


@dataclass(frozen=True)
class FieldsArgument(Argument):
    output: Schema = field(default_factory=dict)
    # Whether the answer has no fields beyond the output schema.
    is_closed: bool = True
    omission: Omission = field(default_factory=Omission)

    @classmethod
    def for_endpoint(cls, endpoint: EndpointSchema) -> FieldsArgument | None:
        fields = SelectableFields(endpoint.output)
        known, output = fields.find_paths(), endpoint.output
        declared = (*endpoint.path, *endpoint.query, *endpoint.body.fields)
        if any(make_portable_name(parameter.name) == FIELDS for parameter in declared):
            return None
        if known:
            enumerated = fields.names_all()
            schema = cls._build_schema(known, enumerated=enumerated)
            # For one object with few fields the argument is not listed.
            listed = fields.are_many or not enumerated or len(known) > MAX_SHORT
        elif may_have_others(fields.row):
            schema = {"type": "array", "items": {"type": "string"}, "description": ONLY_THESE}
            output, enumerated, listed = {}, False, True
        else:
            return None
        parameter = Parameter(FIELDS, schema, listed=listed)
        return cls(FIELDS, ANSWER, parameter, output=output, is_closed=enumerated)

    @classmethod
    def _build_schema(cls, known: list[str], *, enumerated: bool) -> Schema:
        if enumerated and len(known) <= MAX_PATHS and sum(map(len, known)) <= MAX_CHARACTERS:
            # Without a description: the names say it.
            pattern = {"pattern": f"^{cls._join_expressions(known)}$"}
            items = {"enum": known} if len(known) <= MAX_ENUM else pattern
            return {"type": "array", "items": {"type": "string", **items}}
        nested = next((path for path in known if "." in path), None)
        outermost = cls._join_paths([path for path in known if "." not in path])
        sentences = [ONLY_THESE]
        if nested:
            sentences.append(f"Nested ones by dots, such as {nested}.")
        sentences.append(f"Among them: {outermost}.")
        return {"type": "array", "items": {"type": "string"}, "description": " ".join(sentences)}

    @classmethod
    def _join_expressions(cls, known: list[str]) -> str:
        # ``name(\.(first|last))?`` has the name of each object once.
        inner: dict[str, list[str]] = {}
        for path in known:
            name, _, rest = path.partition(".")
            inner.setdefault(name, []).extend([rest] if rest else [])
        written = (
            re.escape(name) + (rf"(\.{cls._join_expressions(rest)})?" if rest else "")
            for name, rest in inner.items()
        )
        return f"({'|'.join(written)})"

    @staticmethod
    def _join_paths(known: list[str]) -> str:
        shown: list[str] = []
        for path in known[:MAX_PATHS]:
            if sum(map(len, shown)) + len(path) > MAX_CHARACTERS:
                break
            shown.append(path)
        return ", ".join(shown) + (", …" if len(shown) < len(known) else "")

    def read(self, value: Any) -> tuple[str, ...]:
        value, paths = super().read(value), dict[str, str]()
        items = value if isinstance(value, list) else [] if value is None else [value]
        # Models also send one text with commas between the paths.
        count = sum(1 + item.count(",") if isinstance(item, str) else 1 for item in items)
        refuse_many("MAX_FIELDS", count, self.pointer)
        for index, item in enumerate(items):
            at = f"{self.pointer}/{index}" if items is value else self.pointer
            if not isinstance(item, str):
                problem = Problem(
                    code="invalid",
                    message="Fields are named by text.",
                    pointer=at,
                    received=mask_secrets(item),
                    accepted="an array of strings",
                    remediation='Send an array of field names, such as ["id"], and call again.',
                )
                raise ArgumentsRefused([problem])
            paths.update((part.strip(), at) for part in item.split(",") if part.strip())
        for path, at in paths.items():
            if path.count(".") >= MAX_LEVELS:
                says = f"A name in 'fields' has at most {MAX_LEVELS} levels."
                raise ArgumentsRefused([Problem("max_length", says, at)])
        fields = SelectableFields(self.output)
        omitted = [path for path in paths if self.omission.covers(path.split("."))]
        found = dict.fromkeys([*omitted, *fields.find_unknown(paths)])
        unknown = list(islice(found, MAX_UNKNOWN))
        if unknown:
            known = fields.find_paths()
            raise ArgumentsRefused([self._unknown_field(p, paths[p], known) for p in unknown])
        return tuple(paths)

    def find_unanswered(self, paths: Sequence[str], data: Any) -> list[Warning]:
        """Return a warning for each path that no row of an answer has."""
        found = [] if self.is_closed else FieldSelection(paths).find_unanswered(data)
        unanswered = found[:MAX_UNKNOWN]
        known = SelectableFields(infer_schema(data)).find_paths() if unanswered else []
        warnings = []
        # Text, numbers and files have no fields.
        for path in unanswered if known else ():
            problem = self._unknown_field(path, self.pointer, known)
            message = f"The answer has no field '{path}', but {problem.accepted}."
            warnings.append(Warning(UNKNOWN_FIELD, message, remediation=problem.remediation))
        return warnings

    def _unknown_field(self, path: str, pointer: str, known: list[str]) -> Problem:
        nearest, names = find_nearest_path(path, known), self._join_paths(known)
        return Problem(
            code="unknown",
            message="Unknown field.",
            pointer=pointer,
            received=path,
            accepted=nearest or names,
            remediation=suggest(nearest, names),
        )


class IdsArgument(Argument):
    @classmethod
    def for_key(cls, key: Parameter, group: str) -> IdsArgument:
        known = FieldSchema.of(key.schema)
        items = {name: value for name, value in known.items() if name != "description"}
        order = "Answered in this order, with null for a miss"
        schema = {
            "type": "array",
            **explain({}, known.get("description", ""), order),
            "items": FieldSchema(items, known.meaning),
            "minItems": 1,
            "maxItems": mcp_settings.MAX_IDS,
        }
        return cls(IDS, PATH, Parameter(key.name, schema, required=True), group=group)

    def read(self, value: Any) -> list[Any]:
        # Models also send one id without a list.
        value = super().read(value)
        if value is None:
            return []  # refused by its name
        ids = value if isinstance(value, list) else [value]
        refuse_many("MAX_IDS", len(ids), self.pointer)
        accepted = f"an array of 1 to {mcp_settings.MAX_IDS} ids"
        remediation = f"Send {accepted}."
        if not ids:
            message = f"'{self.name}' is empty."
            empty = Problem("empty", message, self.pointer, None, accepted, remediation)
            raise ArgumentsRefused([empty])
        problems = [
            Problem(
                code="invalid",
                message="An id is a string or a number.",
                pointer=f"{self.pointer}/{index}" if ids is value else self.pointer,
                received=mask_secrets(one),
                accepted=accepted,
                remediation=remediation,
            )
            for index, one in enumerate(ids)
            if not isinstance(one, (str, int, float)) or isinstance(one, bool)
        ]
        if problems:
            raise ArgumentsRefused(problems)
        return ids

    def find_in_request(
        self, kwargs: Mapping[str, Any], query: MultiValueDict[str, str], body: Any
    ) -> Any:
        value = super().find_in_request(kwargs, query, body)
        return value if value is MISSING else [value]
