from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from django.apps import apps
from django.utils.encoding import force_str
from rest_framework import serializers

from drf_mcp.access.throttles import count_once
from drf_mcp.contrib.prompts.completion import ListedRows
from drf_mcp.contrib.prompts.prompt import Prompt
from drf_mcp.describers import describe_form
from drf_mcp.dispatch.content import encode_data
from drf_mcp.errors import ask_nearest, find_nearest
from drf_mcp.exceptions import InvalidParams
from drf_mcp.features import Capability, Encoded, Feature, RequestContext, mcp_settings
from drf_mcp.interaction.exchange import NOTHING_ASKED
from drf_mcp.json_text import parse_json_text, to_bytes
from drf_mcp.observability.records import record_call
from drf_mcp.outcomes import Outcome, Question
from drf_mcp.protocol import REVISIONS
from drf_mcp.protocol.constants import CACHE_MEMBERS
from drf_mcp.protocol.eras import InputRequired

_OLD = frozenset({"name", "title", "description", "arguments", "required", "_meta"})
# Revision -> members of a Prompt and of a PromptArgument.
MEMBERS = dict.fromkeys(REVISIONS, _OLD | {"icons"}) | {"2025-06-18": _OLD}
LIST = frozenset({"prompts", "nextCursor", "_meta"})
GET = frozenset({"description", "messages", "_meta"})
# The kinds of media that messages hold as they are; other files are embedded resources.
MEDIA = frozenset({"image", "audio"})
LISTS = (serializers.ListField, serializers.ManyRelatedField, serializers.MultipleChoiceField)
OBJECTS = (serializers.DictField, serializers.BaseSerializer)
Prompts = Mapping[str, Prompt]


class PromptsCapability(Capability):
    """Lists and fills in the prompts that were added to the registry (server/prompts)."""

    name = "prompts"
    methods = {"prompts/list": "list_prompts", "prompts/get": "read_prompt"}
    name_parameters = {"prompts/get": "name"}
    result_members = {
        **{revision: {"prompts/list": LIST, "prompts/get": GET} for revision in REVISIONS},
        "2026-07-28": {
            "prompts/list": LIST | CACHE_MEMBERS | {"resultType"},
            "prompts/get": GET | {"resultType"},
        },
    }

    @property
    def is_on(self) -> bool:
        return bool(self.get_prompts())

    def get_prompts(self) -> Prompts:
        """Return the prompts by name."""
        return {prompt.name: prompt for prompt in self.server.registry.find_added(Prompt)}

    def list_prompts(self, context: RequestContext) -> dict[str, Any]:
        context.caller.authenticate()
        prompts: Sequence[Prompt] = list(self.get_prompts().values())
        size = mcp_settings.TOOLS_PAGE_SIZE
        page, following = context.cut_page(prompts, size, lambda prompt: prompt.name)
        names, define = MEMBERS[context.era.revision], context.era.find_defined
        listed = []
        for prompt in page:
            definition = define(prompt.get_definition(), names)
            if "arguments" in definition:
                definition["arguments"] = [define(each, names) for each in definition["arguments"]]
            listed.append(definition)
        members: dict[str, Any] = {"prompts": Encoded(to_bytes(encode_data(listed)))}
        return members if following is None else {**members, "nextCursor": following}

    def read_prompt(self, context: RequestContext) -> dict[str, Any] | InputRequired:
        context = count_once(context)
        request, params = context.caller.authenticate(), context.message.params
        prompt = self.find_prompt(params.get("name"))
        arguments = params.get("arguments", {})
        if not isinstance(arguments, Mapping):
            raise InvalidParams("The arguments of prompts/get must be an object.")
        started = time.perf_counter()
        read = PromptArguments(self.server, context, prompt).read(arguments)
        if isinstance(read, InputRequired):
            return read
        arguments, values = read
        messages = [*self._read_resources(prompt, arguments, context)]
        messages += prompt.get_messages(values, request)
        content = Encoded(to_bytes(encode_data(messages)))
        record_call(context, prompt, Outcome(prompt.name, 200), {"content": content}, started)
        return {"description": force_str(prompt.label), "messages": content}

    def find_prompt(self, name: Any) -> Prompt:
        if not isinstance(name, str):
            raise InvalidParams('The params must name a prompt: "name", a string.')
        prompts = self.get_prompts()
        if name not in prompts:
            message = f"Unknown prompt: {name[:128]}."
            asked = ask_nearest(find_nearest(name, prompts))
            raise InvalidParams(f"{message} {asked}".strip(), http_status=200)
        return prompts[name]

    def _read_resources(
        self, prompt: Prompt, arguments: Mapping[str, Any], context: RequestContext
    ) -> list[dict[str, Any]]:
        resources: Any = self.server.find_capability("resources")
        messages = []
        for path in prompt.find_paths(arguments):
            for contents in resources.read(resources.uris.write(path), context)["contents"]:
                kind = contents.get("mimeType", "").partition("/")[0]
                if kind in MEDIA and "blob" in contents:
                    media = {"data": contents["blob"], "mimeType": contents["mimeType"]}
                    block = {"type": kind, **media}
                else:
                    block = {"type": "resource", "resource": contents}
                messages.append({"role": "user", "content": block})
        return messages


class PromptArguments:
    """The arguments of a prompt for one caller, who may be asked for what is missing."""

    def __init__(self, server: Any, context: RequestContext, prompt: Prompt) -> None:
        self.server = server
        self.context = context
        self.prompt = prompt
        self.input_requests: Any = None
        self.exchange = NOTHING_ASKED
        if apps.is_installed("drf_mcp.contrib.asking"):
            from drf_mcp.contrib.asking.feature import InputRequests

            self.input_requests = InputRequests(context, f"prompts/get {prompt.name}")
            self.exchange = self.input_requests.exchange

    def read(self, sent: Mapping[str, Any]) -> tuple[dict[str, Any], Any] | InputRequired:
        """Return the arguments and their values, or the question for the missing arguments."""
        # A form that leaves a field empty sends an empty text.
        sent = {name: value for name, value in sent.items() if value not in ("", None)}
        answer = self.exchange.answers.get(self.prompt.name)
        arguments = {**(answer.content if answer else {}), **sent}
        context = {"request": self.context.caller.authenticate()}
        serializer: Any = self.prompt.get_serializer(context=context)
        fields = self.prompt.find_fields(serializer)
        self.prompt.refuse_unknown(arguments, fields)
        self._limit_relations(fields, arguments)
        parsed = {name: self.parse(fields[name], value) for name, value in arguments.items()}
        serializer.initial_data = parsed
        if serializer.is_valid():
            return arguments, serializer.validated_data
        problems = json.loads(encode_data(serializer.errors))
        sentences = [f"{name}: {' '.join(map(str, texts))}" for name, texts in problems.items()]
        is_open = not sent.keys() & problems.keys() and (not answer or answer.is_accepted)
        if is_open and "form" in self.exchange.modes:
            schema = describe_form(serializer, sent)
            message = " ".join([force_str(self.prompt.label), *(sentences if answer else [])])
            question = Question(self.prompt.name, message, schema)
            asked: InputRequired | None = self.input_requests.write((question,))
            if asked is not None:
                return asked
        raise InvalidParams(" ".join(sentences), data={"problems": problems}, http_status=200)

    def parse(self, field: Any, value: Any) -> Any:
        # Arguments are texts, in which lists and objects are JSON.
        if isinstance(field, LISTS):
            return parse_json_text(value, list)
        return parse_json_text(value, dict) if isinstance(field, OBJECTS) else value

    def _limit_relations(self, fields: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
        # An argument names only objects that a list shows the caller.
        capability = self.server.tools_capability
        exposed = ListedRows(self.context.caller, capability.get_tools(self.context))
        offered = ListedRows(self.context.caller, capability.find_offered_tools(self.context))
        for name in fields.keys() & arguments.keys():
            field = getattr(fields[name], "child_relation", fields[name])
            model = getattr(getattr(field, "queryset", None), "model", None)
            # Where no tool lists the model, the field takes the objects of its own queryset.
            if model is None or exposed.find_list(model) is None:
                continue
            listing = offered.find_list(model)
            column = getattr(field, "slug_field", None) or "pk"
            found = listing and offered.ask(listing, arguments, lambda rows: rows, column)
            field.queryset = model._default_manager.none() if found is None else found


class PromptsFeature(Feature):
    capability_classes = (
        "drf_mcp.contrib.prompts.capability.PromptsCapability",
        "drf_mcp.contrib.prompts.completion.CompletionCapability",
    )
