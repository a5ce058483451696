"""The argument ``fields`` of a read, which selects from the answer; the view never sees it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from drf_mcp.introspection.field_selection import (
    FieldSelection,
    SelectableFields,
    find_nearest_path,
    infer_schema,
)
from drf_mcp.introspection.names import make_portable_name
from drf_mcp.introspection.types import EndpointSchema, Parameter, Schema
from drf_mcp.outcomes import Problem, Warning
from drf_mcp.tools.arguments.call import ANSWER, Argument
from drf_mcp.tools.arguments.errors import MAX_UNKNOWN, ArgumentsRefused, suggest
from drf_mcp.tools.arguments.masking import mask_secrets

NAME = "fields"
UNKNOWN_FIELD = "UNKNOWN_FIELD"
ONLY_THESE = gettext_noop("Only these fields of the answer.")
# An enumeration of more paths, or of longer ones together, costs more than it helps.
MAX_ENUM = 12
# To choose from one flat row of so few fields saves less than their names cost.
MAX_SHORT = 8
MAX_PATHS = 40
MAX_CHARACTERS = 600


@dataclass(frozen=True)
class FieldsArgument(Argument):
    output: Schema = field(default_factory=dict)
    # Whether the answer surely has no other fields than the output tells.
    is_closed: bool = True

    @classmethod
    def for_endpoint(cls, endpoint: EndpointSchema) -> FieldsArgument | None:
        fields = SelectableFields(endpoint.output)
        known = fields.get_paths()
        declared = (*endpoint.path, *endpoint.query, *endpoint.body.fields)
        if any(make_portable_name(parameter.name) == NAME for parameter in declared):
            return None
        if not known:
            return cls.for_any_answer() if fields.may_have_others(fields.row) else None
        enumerated = fields.names_all()
        schema = cls.build_schema(known, enumerated=enumerated)
        is_short = enumerated and len(known) <= MAX_SHORT and not any("." in path for path in known)
        is_wide = fields.are_many or not is_short
        parameter = Parameter(NAME, schema, listed=is_wide)
        return cls(NAME, ANSWER, parameter, output=endpoint.output, is_closed=enumerated)

    @classmethod
    def for_any_answer(cls) -> FieldsArgument:
        schema = {"type": "array", "items": {"type": "string"}, "description": _(ONLY_THESE)}
        return cls(NAME, ANSWER, Parameter(NAME, schema), is_closed=False)

    @classmethod
    def build_schema(cls, known: list[str], *, enumerated: bool) -> Schema:
        if enumerated and len(known) <= MAX_PATHS and sum(map(len, known)) <= MAX_CHARACTERS:
            # The argument's name and the paths say what the instructions say in words.
            items = {"enum": known} if len(known) <= MAX_ENUM else {"pattern": cls.join(known)}
            return {"type": "array", "items": {"type": "string", **items}}
        nested = next((path for path in known if "." in path), None)
        outermost = cls.join_paths([path for path in known if "." not in path])
        sentences = [_(ONLY_THESE)]
        if nested:
            sentences.append(_("Nested ones by dots, such as %(path)s.") % {"path": nested})
        # Translators: fields of an answer.
        sentences.append(_("Among them: %(names)s.") % {"names": outermost})
        return {"type": "array", "items": {"type": "string"}, "description": " ".join(sentences)}

    @classmethod
    def join(cls, known: list[str]) -> str:
        """Return a pattern of paths, which has the name of an object once."""
        return f"^{cls.join_inner(known)}$"

    @classmethod
    def join_inner(cls, known: list[str]) -> str:
        inner: dict[str, list[str]] = {}
        for path in known:
            name, _, rest = path.partition(".")
            inner.setdefault(name, []).extend([rest] if rest else [])
        written = (
            re.escape(name) + (rf"(\.{cls.join_inner(rest)})?" if rest else "")
            for name, rest in inner.items()
        )
        return f"({'|'.join(written)})"

    @staticmethod
    def join_paths(known: list[str]) -> str:
        shown: list[str] = []
        for path in known[:MAX_PATHS]:
            if sum(map(len, shown)) + len(path) > MAX_CHARACTERS:
                break
            shown.append(path)
        return ", ".join(shown) + (", …" if len(shown) < len(known) else "")

    def read(self, value: Any) -> tuple[str, ...]:
        # Models send one text with commas between the paths as well.
        paths, fields = dict(self.find_paths(super().read(value))), SelectableFields(self.output)
        unknown = list(islice(fields.find_unknown(paths), MAX_UNKNOWN))
        if unknown:
            known = fields.get_paths()
            raise ArgumentsRefused([self.unknown_field(p, paths[p], known) for p in unknown])
        return tuple(paths)

    def find_unanswered(self, paths: Sequence[str], data: Any) -> list[Problem]:
        """Return a problem for each path that leads to nothing in an answer."""
        unanswered = [] if self.is_closed else FieldSelection(paths).find_unanswered(data)
        known = SelectableFields(infer_schema(data)).get_paths() if unanswered else []
        # Text, numbers and files stay as they are.
        return [self.unknown_field(path, self.pointer, known) for path in unanswered if known]

    def find_paths(self, value: Any) -> Iterator[tuple[str, str]]:
        items = value if isinstance(value, list) else [] if value is None else [value]
        for index, item in enumerate(items):
            at = f"{self.pointer}/{index}" if items is value else self.pointer
            if not isinstance(item, str):
                raise ArgumentsRefused([self.not_a_path(item, at)])
            yield from ((part.strip(), at) for part in item.split(",") if part.strip())

    def not_a_path(self, value: Any, pointer: str) -> Problem:
        return Problem(
            code="invalid",
            message=_("Fields are named by text."),
            pointer=pointer,
            received=mask_secrets(value),
            accepted=_("an array of strings"),
            remediation=_('Send an array of field names, such as ["id"], and call again.'),
        )

    def unknown_field(self, path: str, pointer: str, known: list[str]) -> Problem:
        nearest, names = find_nearest_path(path, known), self.join_paths(known)
        otherwise = gettext_noop("Use an accepted field, or leave '%(name)s' out.")
        return Problem(
            code="unknown",
            message=_("Unknown field."),
            pointer=pointer,
            received=path,
            accepted=nearest or names,
            remediation=suggest(path, nearest, otherwise),
        )


def lacks_field(problem: Problem) -> Warning:
    facts = {"name": problem.received, "names": problem.accepted}
    message = _("The answer has no field '%(name)s', but %(names)s.") % facts
    return Warning(UNKNOWN_FIELD, message, remediation=problem.remediation)
