from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from rest_framework import serializers

from drf_mcp.access.authentication import Caller
from drf_mcp.access.limits import count_once
from drf_mcp.dispatch.probe import REFUSALS, Probe
from drf_mcp.exceptions import InvalidParams, contain
from drf_mcp.introspection.types import ANY
from drf_mcp.protocol import REVISIONS, Capability
from drf_mcp.protocol.capability import RequestContext
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
        total: how many match, None where they were not counted.
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


logger = logging.getLogger("drf_mcp")

Found = TypeVar("Found")


class ListedRows:
    """The rows of list tools, as their views show them to a caller.

    Args:
        caller: the caller, who is authenticated.
        tools: the tools that are offered to the caller, by name.
    """

    def __init__(self, caller: Caller, tools: Mapping[str, Tool]) -> None:
        self.caller = caller
        self.tools = tools

    @classmethod
    def of(cls, server: Any, context: Any) -> ListedRows:
        """Return the rows of the tools that a `Server` offers in a request."""
        return cls(context.caller, server.tools_capability.get_offered_tools(context))

    def find_list(self, model: Any) -> Tool | None:
        """Return the tool that lists a model, None if the caller has none."""
        for tool in self.tools.values():
            name = tool.related.find_list(model)
            return self.tools.get(name) if name else None
        return None

    def ask(
        self, tool: Tool, kwargs: Mapping[str, Any], take: Callable[[Any], Found]
    ) -> Found | None:
        """Return what is taken of the rows that a list shows, None where it shows none.

        Args:
            kwargs: the path kwargs of the list; others are passed over.
            take: gets a queryset of the rows.
        """
        known = {name: kwargs[name] for name in tool.endpoint.route.kwargs if name in kwargs}
        probe = Probe(self.caller, tool, known)

        def leave_out(exc: Exception) -> None:
            if not isinstance(exc, REFUSALS):
                logger.warning("The rows of %s could not be read", tool.name, exc_info=exc)

        return contain(lambda: probe.take_rows(take), leave_out)


COMPLETE = frozenset({"completion", "_meta"})


class CompletionCapability(Capability):
    """Completes arguments of prompts and variables of templates (server/utilities/completion)."""

    name = "completions"
    methods = {"completion/complete": "complete"}
    result_members = {
        **{revision: {"completion/complete": COMPLETE} for revision in REVISIONS},
        "2026-07-28": {"completion/complete": COMPLETE | {"resultType"}},
    }

    @property
    def is_on(self) -> bool:
        """Whether there are prompts or resources."""
        prompts, resources = map(self.server.find_capability, ("prompts", "resources"))
        return resources is not None or prompts.is_on

    def complete(self, context: RequestContext) -> dict[str, Any]:
        context = count_once(context)
        params = context.message.params
        ref, argument = params.get("ref"), params.get("argument")
        if not isinstance(ref, Mapping) or not isinstance(argument, Mapping):
            raise InvalidParams(_('completion/complete needs a "ref" and an "argument".'))
        name, typed = argument.get("name"), argument.get("value")
        if not isinstance(name, str) or not isinstance(typed, str):
            raise InvalidParams(_('The argument to complete needs "name" and "value", strings.'))
        known = params.get("context")
        chosen = known.get("arguments") if isinstance(known, Mapping) else None
        rows = ListedRows.of(self.server, context)
        completion = Completion(rows, typed, chosen if isinstance(chosen, Mapping) else {})
        found = self.find_candidates(completion, ref, name, context)
        members = {"values": found.values, "hasMore": found.has_more}
        total = {} if found.total is None else {"total": found.total}
        return {"completion": members | total}

    def find_candidates(
        self, completion: Completion, ref: Mapping[str, Any], name: str, context: RequestContext
    ) -> Candidates:
        """Return what completes an argument.

        Args:
            ref: names the prompt, or the URI template.
            name: the argument.

        Raises:
            InvalidParams: if there is no such prompt, template or argument.
        """
        prompts = self.server.find_capability("prompts")
        resources = self.server.find_capability("resources")
        if ref.get("type") == "ref/prompt" and prompts is not None:
            prompt = prompts.find_prompt(ref.get("name"))
            request = context.caller.authenticate()
            fields = prompt.find_fields(prompt.get_serializer(context={"request": request}))
            prompt.refuse_unknown({name: ""}, fields)
            return completion.complete_field(fields[name])
        uri = ref.get("uri")
        if ref.get("type") != "ref/resource" or resources is None or not isinstance(uri, str):
            raise InvalidParams(_('The "ref" names a prompt ("name") or a resource ("uri").'))
        route = resources.find_template(uri, context)
        if route is not None:
            return completion.complete_variable(route.tool, name)
        # A URI without variables has nothing to complete.
        resources.find("" if "{" in uri else uri, context)
        return NOTHING
