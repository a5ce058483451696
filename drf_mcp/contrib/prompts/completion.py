from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from drf_mcp.access.limits import count_once
from drf_mcp.contrib.prompts.candidates import NOTHING, Candidates, Completion
from drf_mcp.contrib.prompts.rows import ListedRows
from drf_mcp.exceptions import InvalidParams
from drf_mcp.protocol import REVISIONS, Capability
from drf_mcp.protocol.context import RequestContext

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
