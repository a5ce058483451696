"""What an argument may be, for completion: a closed set, or what the rows of a list have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from drf_mcp.introspection.types import ANY
from drf_mcp.tools.arguments.call import PATH, Argument
from drf_mcp.tools.tool import Tool

# The most values of one answer (server/utilities/completion).
MOST = 100
BOOLEANS = {"true": "", "false": ""}


@dataclass(frozen=True)
class Candidates:
    """The values that an argument may have.

    Attributes:
        values: at most `MOST` of those that match.
        total: how many match, None where nobody has counted.
        has_more: whether more match than there are values.
    """

    values: list[str]
    total: int | None
    has_more: bool

    @classmethod
    def of_choices(cls, choices: Mapping[Any, Any], typed: str) -> Candidates:
        """Return the keys that a text begins, then those that hold the text, or whose label do."""
        typed = typed.lower()
        labelled = [(str(key), str(label).lower()) for key, label in choices.items()]
        first = [key for key, _ in labelled if key.lower().startswith(typed)]
        rest = [key for key, label in labelled if typed in key.lower() or typed in label]
        found = list(dict.fromkeys([*first, *rest]))
        return cls(found[:MOST], len(found), len(found) > MOST)

    @classmethod
    def of_rows(cls, rows: Any, column: str, typed: str) -> Candidates:
        """Return the values of a column that a text begins."""
        if not isinstance(rows, QuerySet):
            return NOTHING
        if typed:
            rows = rows.filter(**{f"{column}__istartswith": typed})
        found = rows.order_by(column).values_list(column, flat=True).distinct()[: MOST + 1]
        texts = [str(value) for value in found if value is not None]
        return cls(texts[:MOST], None, len(texts) > MOST)


NOTHING = Candidates([], 0, False)


class Completion:
    """Completes arguments for one caller.

    Args:
        rows: the `ListedRows` of the caller.
        typed: the beginning of the value.
        chosen: the arguments that are filled in already, by name.
    """

    def __init__(self, rows: Any, typed: str, chosen: Mapping[str, Any]) -> None:
        self.rows = rows
        self.typed = typed
        self.chosen = chosen

    # --- Arguments of prompts -------------------------------------------------------------------

    def complete_field(self, field: Any) -> Candidates:
        """Return what a serializer field takes."""
        field = getattr(field, "child_relation", None) or getattr(field, "child", None) or field
        if isinstance(field, serializers.RelatedField):
            rows: Any = vars(field).get("queryset")
            column = getattr(field, "slug_field", None) or "pk"
            return NOTHING if rows is None else self.complete_model(rows.model, column)
        if isinstance(field, serializers.ChoiceField):
            return Candidates.of_choices(field.choices, self.typed)
        is_boolean = isinstance(field, serializers.BooleanField)
        return Candidates.of_choices(BOOLEANS, self.typed) if is_boolean else NOTHING

    def complete_model(self, model: Any, column: str) -> Candidates:
        tool = self.rows.find_list(model)
        return NOTHING if tool is None else self.complete_rows(tool, column)

    def complete_rows(self, tool: Tool, column: str) -> Candidates:
        found = self.rows.ask(
            tool, self.chosen, lambda rows: Candidates.of_rows(rows, column, self.typed)
        )
        return found or NOTHING

    # --- Variables of resource templates --------------------------------------------------------

    def complete_variable(self, tool: Tool, name: str) -> Candidates:
        """Return what a variable of a tool's URI template may be."""
        for argument in tool.arguments.arguments:
            if argument.parameter.name == name:
                return self.complete_argument(tool, argument)
        return NOTHING

    def complete_argument(self, tool: Tool, argument: Argument) -> Candidates:
        parameter = argument.parameter
        schema = parameter.schema
        schema = schema.get("items", schema) if schema.get("type") == "array" else schema
        if "enum" in schema:
            return Candidates.of_choices(dict.fromkeys(schema["enum"], ""), self.typed)
        if schema.get("type") == "boolean":
            return Candidates.of_choices(BOOLEANS, self.typed)
        relations = parameter.handling.relations
        relation = relations.get(()) or relations.get((ANY,))
        if argument.location == PATH and (found := self.find_collection(tool, parameter.name)):
            return self.complete_rows(*found)
        return self.complete_model(relation.model, relation.key) if relation else NOTHING

    def find_collection(self, tool: Tool, kwarg: str) -> tuple[Tool, str] | None:
        """Return the list whose rows a path kwarg chooses from, and the column of its value."""
        before = tool.endpoint.route.path.partition(f"{{{kwarg}}}")[0].rstrip("/")
        listing = self.rows.tools.get(tool.related.by_path.get(before, ""))
        if listing is None:
            return None
        endpoints: Iterable[Any] = tool.related.endpoints.values()
        return listing, next(self.find_lookups(endpoints, before), "pk")

    def find_lookups(self, endpoints: Iterable[Any], collection: str) -> Iterator[str]:
        for endpoint in endpoints:
            if endpoint.standard_action == "retrieve" and endpoint.collection == collection:
                yield getattr(endpoint.view_class, "lookup_field", "pk")
