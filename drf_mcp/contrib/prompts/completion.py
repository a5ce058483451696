"""What people may choose for arguments of prompts and variables of templates, as they type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from rest_framework import serializers

from drf_mcp.access.throttles import count_once
from drf_mcp.describers import ANY
from drf_mcp.dispatch.list_probe import ask_about_rows
from drf_mcp.exceptions import InvalidParams
from drf_mcp.exposure import PATH, Tool
from drf_mcp.features import Caller, Capability, RequestContext
from drf_mcp.protocol import REVISIONS

Found = TypeVar("Found")
# The most values of one answer (server/utilities/completion).
MOST = 100
BOOLEANS = {"true": "", "false": ""}
NOTHING: Mapping[str, Any] = {"values": [], "total": 0, "hasMore": False}
COMPLETE = frozenset({"completion", "_meta"})


class ListedRows:
    """The rows of list tools, as their views show them to a caller.

    The throttles of a view count a message once that asks for its rows.
    """

    def __init__(self, caller: Caller, tools: Mapping[str, Tool]) -> None:
        self.caller = caller
        self.tools = tools
        self.counted: set[str] = set()

    def find_list(self, model: Any) -> Tool | None:
        for tool in self.tools.values():
            name = tool.related.find_list(model)
            return self.tools.get(name) if name else None
        return None

    def ask(
        self, tool: Tool, kwargs: Mapping[str, Any], take: Callable[[Any], Found], column: str
    ) -> Found | None:
        """Return what is taken of the rows that a list shows, None where it shows none.

        Args:
            kwargs: the path kwargs of the list; others are passed over.
            take: gets a queryset of the rows.
            column: the column by which a row is chosen, which the list has to show.

        Raises:
            Refused: if a throttle of the list's view refuses the message.
        """
        known = {name: kwargs[name] for name in tool.endpoint.route.kwargs if name in kwargs}
        is_first = tool.name not in self.counted
        self.counted.add(tool.name)
        return ask_about_rows(self.caller, tool, known, take, column, is_counted=is_first)


class Completion:
    """Completes one argument for one caller; each method returns the members of the answer.

    Args:
        rows: the rows that the caller sees.
        typed: the beginning of the value.
        chosen: the arguments that are filled in already, by name.
    """

    def __init__(self, rows: ListedRows, typed: str, chosen: Mapping[str, Any]) -> None:
        self.rows = rows
        self.typed = typed
        self.chosen = chosen

    def complete_field(self, field: Any) -> Mapping[str, Any]:
        field = getattr(field, "child_relation", None) or getattr(field, "child", None) or field
        if isinstance(field, serializers.RelatedField):
            rows: Any = vars(field).get("queryset")
            column = getattr(field, "slug_field", None) or "pk"
            return NOTHING if rows is None else self._complete_model(rows.model, column)
        if isinstance(field, serializers.ChoiceField):
            return self._complete_choices(field.choices)
        is_boolean = isinstance(field, serializers.BooleanField)
        return self._complete_choices(BOOLEANS) if is_boolean else NOTHING

    def complete_variable(self, tool: Tool, name: str) -> Mapping[str, Any]:
        found = (each for each in tool.arguments.arguments if each.parameter.name == name)
        if (argument := next(found, None)) is None:
            return NOTHING
        schema = argument.parameter.schema
        schema = schema.get("items", schema) if schema.get("type") == "array" else schema
        if "enum" in schema:
            return self._complete_choices(dict.fromkeys(schema["enum"], ""))
        if schema.get("type") == "boolean":
            return self._complete_choices(BOOLEANS)
        # The rows of the list before a path kwarg are what it chooses from.
        before = tool.endpoint.route.path.partition(f"{{{name}}}")[0].rstrip("/")
        listing = self.rows.tools.get(tool.related.by_path.get(before, ""))
        if argument.location == PATH and listing is not None:
            return self._complete_rows(listing, tool.related.find_lookup(before))
        known = argument.parameter.value_info
        infos = (known[place] for place in ((), (ANY,)) if place in known)
        relation = next(filter(None, (info.relation for info in infos)), None)
        return self._complete_model(relation.model, relation.key) if relation else NOTHING

    def _complete_choices(self, choices: Mapping[Any, Any]) -> Mapping[str, Any]:
        """Complete by keys that begin with the text, then by keys or labels that hold it."""
        typed = self.typed.lower()
        labelled = [(str(key), str(label).lower()) for key, label in choices.items()]
        first = [key for key, _ in labelled if key.lower().startswith(typed)]
        rest = [key for key, label in labelled if typed in key.lower() or typed in label]
        found = list(dict.fromkeys([*first, *rest]))
        return {"values": found[:MOST], "total": len(found), "hasMore": len(found) > MOST}

    def _complete_model(self, model: Any, column: str) -> Mapping[str, Any]:
        tool = self.rows.find_list(model)
        return NOTHING if tool is None else self._complete_rows(tool, column)

    def _complete_rows(self, tool: Tool, column: str) -> Mapping[str, Any]:
        def read(rows: Any) -> Mapping[str, Any]:
            if self.typed:
                rows = rows.filter(**{f"{column}__istartswith": self.typed})
            found = rows.order_by(column).values_list(column, flat=True).distinct()[: MOST + 1]
            texts = [str(value) for value in found if value is not None]
            # How many there are in all is not counted.
            return {"values": texts[:MOST], "hasMore": len(texts) > MOST}

        return self.rows.ask(tool, self.chosen, read, column) or NOTHING


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
        prompts, resources = map(self.server.find_capability, ("prompts", "resources"))
        return resources is not None or prompts.is_on

    def complete(self, context: RequestContext) -> dict[str, Any]:
        context = count_once(context)
        params = context.message.params
        ref, argument = params.get("ref"), params.get("argument")
        if not isinstance(ref, Mapping) or not isinstance(argument, Mapping):
            raise InvalidParams('completion/complete needs a "ref" and an "argument".')
        name, typed = argument.get("name"), argument.get("value")
        if not isinstance(name, str) or not isinstance(typed, str):
            raise InvalidParams('The argument to complete needs "name" and "value", strings.')
        known = params.get("context")
        chosen = known.get("arguments") if isinstance(known, Mapping) else None
        rows = ListedRows(context.caller, self.server.tools_capability.find_offered_tools(context))
        completion = Completion(rows, typed, chosen if isinstance(chosen, Mapping) else {})
        return {"completion": self.ask(completion, ref, name, context)}

    def ask(
        self, completion: Completion, ref: Mapping[str, Any], name: str, context: RequestContext
    ) -> Mapping[str, Any]:
        prompts, resources = map(self.server.find_capability, ("prompts", "resources"))
        if ref.get("type") == "ref/prompt" and prompts is not None:
            prompt = prompts.find_prompt(ref.get("name"))
            request = context.caller.authenticate()
            fields = prompt.find_fields(prompt.get_serializer(context={"request": request}))
            prompt.refuse_unknown({name: ""}, fields)
            return completion.complete_field(fields[name])
        uri = ref.get("uri")
        if ref.get("type") != "ref/resource" or resources is None or not isinstance(uri, str):
            raise InvalidParams('The "ref" names a prompt ("name") or a resource ("uri").')
        route = resources.find_template(uri, context)
        if route is not None:
            return completion.complete_variable(route.tool, name)
        # A URI without variables has nothing to complete.
        resources.find("" if "{" in uri else uri, context)
        return NOTHING
