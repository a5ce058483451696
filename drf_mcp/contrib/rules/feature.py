from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.core.checks import CheckMessage, Warning
from django.http import Http404
from django.utils.translation import gettext as _
from django.utils.translation import ngettext_lazy
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from drf_mcp.checks.project import Project, register_check
from drf_mcp.contrib.rules.expressions import UNKNOWN
from drf_mcp.contrib.rules.proposal_store import RUNNING, ProposalStore
from drf_mcp.contrib.rules.proposing import (
    PROPOSAL,
    RETRIEVE,
    WITHDRAW,
    RefusedItemGuard,
    RulesGuard,
    describe_proposal,
)
from drf_mcp.contrib.rules.ruling import ALLOW, REFUSE, RULES, find_rules, refuses_kept
from drf_mcp.contrib.rules.values import CallValues
from drf_mcp.dispatch.stored_answers import StoredAnswer
from drf_mcp.features import AccessStep, CallState, Feature, Guard, Safeguard
from drf_mcp.interaction.exchange import find_call
from drf_mcp.outcomes import Outcome
from drf_mcp.protocol import jsonrpc
from drf_mcp.settings import override_language
from drf_mcp.tools.server_tools import ServerTool, ServerToolView


class RulesFeature(Feature):
    """Refuses calls by rules in Python and in a table, and has people approve others."""

    page_parts = ("drf_mcp.contrib.rules.views.RulesPart",)
    expires = {
        "proposals": (
            "drf_mcp.contrib.rules.proposal_store.expire_proposals",
            ngettext_lazy("Deleted %(count)d proposal.", "Deleted %(count)d proposals.", "count"),
        )
    }

    @override_language()
    def get_tools(self, tools: Any) -> Iterable[Any]:
        # No call that only reads is ever proposed.
        if all(tool.reads for tool in tools.values()):
            return []
        about = _("The proposal, as the call answered.")
        argument = {"id": {"type": "string", "description": about}}
        return [
            ServerTool.make(
                RETRIEVE,
                ProposalView,
                title=_("State of a proposed call"),
                description=_(
                    "Say whether a call that waits for an approval is approved, and its result."
                ),
                query=argument,
                output_schema=None,
                # The result of the call has been shortened to the budget of its own tool.
                max_result_tokens=0,
            ),
            ServerTool.make(
                WITHDRAW,
                ProposalView,
                method="POST",
                title=_("Withdraw a proposed call"),
                description=_("Withdraw a call that waits for an approval."),
                body=argument,
                output_schema=None,
            ),
        ]

    def finish_outcome(self, outcome: Outcome, call: CallState) -> Outcome:
        is_inner = call.context is not None and call.context.is_inner
        if is_inner and call.slots and PROPOSAL.get(call) is not None:
            # The server writes a result of the outermost call alone, and its proposal needs that
            # of the approved call. The members of meta are in the result of the outermost call.
            plain = outcome.changed(meta={})
            result, _outcome = call.server.tools_capability.write_result(plain, call)
            self.finish_result(result, outcome, call)
        return outcome

    def finish_result(
        self, result: dict[str, Any], outcome: Outcome, call: CallState
    ) -> dict[str, Any]:
        row = PROPOSAL.get(call) if call.slots else None
        if row is None:
            return result
        # The answer is given later only under the rights that its caller has now.
        answer = call.dispatcher.get_stored_answer(call)
        store, terms = ProposalStore(), answer.note_terms(failed=outcome.failure is not None)
        if getattr(call.caller.request, "mcp_proposal", None) is None:
            members = json.loads(jsonrpc.encode_result(None, result))["result"]
            store.finish(row, {"result": {"resultType": "complete", **members}}, terms)
        else:
            # `run_proposal` keeps the result that the server sends it.
            store.change(row, RUNNING, terms=terms)
        return result

    def get_guards(self, call: CallState) -> Sequence[Guard]:
        # No rule takes the state of a proposal away from its caller.
        if call.tool.name in (RETRIEVE, WITHDRAW) and call.tool.endpoint.is_built_in:
            return ()
        rules = find_rules(call.tool)
        return [RulesGuard(rules), RefusedItemGuard()] if rules else ()

    def check_stored_answer(self, answer: StoredAnswer) -> None:
        # A change that was made is not taken back by a rule.
        if answer.tool.reads and refuses_kept(answer):
            raise PermissionDenied()

    def get_access_steps(self, tool: Any, caller: Any) -> Sequence[AccessStep]:
        values, steps = CallValues(CallState(tool, {}, caller)), []
        for each in find_rules(tool):
            if (holds := each.foresee(values)) is False:
                continue
            # None: it depends on the call.
            allows, verdict = None, getattr(each, "verdict", None)
            if verdict == ALLOW:
                allows = True
            elif verdict == REFUSE and holds is True:
                allows = False
            steps.append(AccessStep(_("rule"), each.name, allows, each.label))
            if holds is not UNKNOWN:
                break
        return steps

    def get_safeguards(self, tool: Any) -> Sequence[Safeguard]:
        rules = find_rules(tool)
        says = "; ".join(f"{each.order} {each.name}: {each.label}" for each in rules)
        return [Safeguard("rules", "rules", bool(rules), is_needed=False, order=450, says=says)]


class ProposalId(serializers.Serializer):  # type: ignore[type-arg]
    id = serializers.CharField()


def show_once(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    # The first block of content repeats the structured content.
    result = answer.get("result", {})
    if "structuredContent" not in result:
        return answer
    return {"result": {**result, "content": result["content"][1:]}}


class ProposalView(ServerToolView):
    """Shows callers their own proposals, and withdraws them."""

    permission_classes = [IsAuthenticated]

    def find(self, request: Request, proposal_id: Any) -> Any:
        call = find_call(request)
        owner = call.caller.principal
        row = ProposalStore().find(proposal_id, owner) if owner else None
        if row is None:
            raise Http404
        return row

    def get(self, request: Request) -> Response:
        asked = ProposalId(data=request.query_params)
        asked.is_valid(raise_exception=True)
        row, call = self.find(request, asked.validated_data["id"]), find_call(request)
        facts = describe_proposal(row, call)
        tool = call.server.registry.tools().get(row.tool)
        is_offered = tool is not None and call.caller.find_narrowing(tool) is None
        if is_offered and row.answer is not None:
            # The answer to a call that was not made has no terms.
            if not row.terms or StoredAnswer.may_read(call.caller, tool, row.terms):
                facts["answer"] = show_once(row.answer)
            else:
                message = StoredAnswer.explain_withheld(row.terms)
                facts["answer"] = {"error": {"message": message}}
        return Response(facts)

    def post(self, request: Request) -> Response:
        sent = ProposalId(data=request.data)
        sent.is_valid(raise_exception=True)
        row = self.find(request, sent.validated_data["id"])
        if not ProposalStore().withdraw(row):
            raise row.conflict
        return Response(describe_proposal(row, find_call(request)))


@register_check()
def check_rules(project: Project) -> Iterator[CheckMessage]:
    for rule in RULES:
        if not any(tool.matches(rule.patterns) for tool in project.tools.values()):
            yield Warning(
                f"The rule {rule.name} is about no tool: {', '.join(rule.patterns)}.",
                hint="Name tools as mcp_tools lists them. See docs/rules.md.",
                id="drf_mcp_rules.W001",
            )
