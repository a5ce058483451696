from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.core.checks import CheckMessage, Warning
from rest_framework import serializers
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from drf_mcp.archives import StoredAnswer
from drf_mcp.checks.project import Project, register_check
from drf_mcp.contrib.rules.guard import RulesGuard
from drf_mcp.contrib.rules.mail import tell_approvers
from drf_mcp.contrib.rules.proposal_store import DONE, ProposalStore
from drf_mcp.contrib.rules.proposing import (
    RETRIEVE,
    WITHDRAW,
    ProposalGuard,
    describe_proposal,
    find_credential_key,
    show_proposal,
)
from drf_mcp.contrib.rules.ruling import RULES, PythonRule, find_rules, refuses_always
from drf_mcp.contrib.rules.signals import proposal_made
from drf_mcp.exceptions import attempt
from drf_mcp.exposure import ServerTool, ServerToolView
from drf_mcp.features import Bound, CallState, Feature, Guard, Setting, ToolSource
from drf_mcp.interaction.exchange import find_call

proposal_made.connect(tell_approvers, dispatch_uid="drf_mcp.contrib.rules")


class RulesFeature(Feature):
    """Refuses calls by rules in Python and in a table, and has people approve others."""

    settings = {
        # Calls of a caller that wait for an approval at once.
        "MAX_PROPOSALS": Setting(
            100, Bound("%(most)s calls of yours wait for an approval. Withdraw one first.")
        )
    }
    page_parts = ("drf_mcp.contrib.rules.views.RulesPart",)
    expires = {"proposals": "drf_mcp.contrib.rules.proposal_store.expire_proposals"}
    gauges = {"proposals_waiting": "drf_mcp.contrib.rules.proposal_store.count_waiting_proposals"}

    tool_source = "drf_mcp.contrib.rules.feature.RulesSource"
    tool_review = "drf_mcp.contrib.rules.review.RulesReview"

    def get_guards(self, call: CallState) -> Sequence[Guard]:
        # No rule takes the state of a proposal away from its caller.
        if call.tool.name in (RETRIEVE, WITHDRAW) and call.tool.endpoint.is_built_in:
            return ()
        rules = find_rules(call.tool)
        keeping = [] if call.tool.reads else [ProposalGuard()]
        return [RulesGuard(rules), *keeping] if rules else ()

    def refuses(self, tool: Any, caller: Any) -> bool:
        return refuses_always(tool)


class RulesSource(ToolSource):
    def get_tools(self, tools: Any) -> Iterable[Any]:
        # No call that only reads is ever proposed.
        if all(tool.reads for tool in tools.values()):
            return []
        argument = {"id": {"type": "string", "description": "The proposal, as the call answered."}}
        return [
            ServerTool.make(
                RETRIEVE,
                ProposalView,
                title="State of a proposed call",
                description=(
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
                title="Withdraw a proposed call",
                description="Withdraw a call that waits for an approval.",
                body=argument,
                output_schema=None,
            ),
        ]


OTHER_RIGHTS = "Your rights are others than when the call was proposed."


class ProposalId(serializers.Serializer):  # type: ignore[type-arg]
    id = serializers.CharField()


def _show_once(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    # The first block of content repeats the structured content.
    result = answer.get("result", {})
    if "structuredContent" not in result:
        return answer
    return {"result": {**result, "content": result["content"][1:]}}


class ProposalView(ServerToolView):
    """Shows callers their own proposals, and withdraws them."""

    permission_classes = [IsAuthenticated]

    def find(self, request: Request, proposal_id: Any) -> tuple[Any, Any]:
        """Return a proposal of the caller's credential, and its tool as the caller is offered it.

        Raises:
            Http404: for another proposal, and for one whose tool the credential does not open.
        """
        call = find_call(request)
        caller, row = call.caller, None
        if owner := caller.principal:
            row = ProposalStore().find(proposal_id, owner, find_credential_key(caller))
        tool = row and call.server.registry.tools().get(row.tool)
        if tool is None or caller.find_narrowing(tool) is not None:
            raise NotFound("There is no such proposal.")
        return row, tool

    def get(self, request: Request) -> Response:
        asked = ProposalId(data=request.query_params)
        asked.is_valid(raise_exception=True)
        row, tool = self.find(request, asked.validated_data["id"])
        call = find_call(request)
        facts = describe_proposal(row, call)
        if not may_read(row, call.caller, tool):
            made = row.answer is not None and StoredAnswer.explain_withheld(row.terms)
            keys = [each["kwargs"] for each in row.named_objects if each["kwargs"]]
            return Response({**facts, "objects": keys, "message": made or OTHER_RIGHTS})
        facts |= show_proposal(row, call, tool)
        if row.answer is not None:
            facts["answer"] = _show_once(row.answer)
        return Response(facts)

    def post(self, request: Request) -> Response:
        sent = ProposalId(data=request.data)
        sent.is_valid(raise_exception=True)
        row, tool = self.find(request, sent.validated_data["id"])
        call = find_call(request)
        if not may_read(row, call.caller, tool):
            raise PermissionDenied(OTHER_RIGHTS)
        if not ProposalStore().withdraw(row):
            raise row.conflict
        return Response(describe_proposal(row, call))


def may_read(row: Any, caller: Any, tool: Any) -> bool:
    """Return whether the gate of stored answers lets a caller have what a proposal holds."""
    made = row.updated if row.status == DONE else None
    return StoredAnswer.may_read(caller, tool, row.terms, made)


@register_check()
def check_rules(project: Project) -> Iterator[CheckMessage]:
    for rule in RULES:
        if not any(tool.matches(rule.patterns) for tool in project.tools.values()):
            yield Warning(
                f"The rule {rule.name} is about no tool: {', '.join(rule.patterns)}.",
                hint="Name tools as mcp_tools lists them. See docs/rules.md.",
                id="drf_mcp_rules.W001",
            )
    # Without its table, the database has not been migrated.
    for row in attempt(find_rules, []):
        faults = {} if isinstance(row, PythonRule) else row.find_faults()
        for fault in faults.values():
            yield Warning(
                f"The rule {row.name} no longer fits: {fault}",
                hint="Until it is corrected, calls of the tool are refused. See docs/rules.md.",
                id="drf_mcp_rules.W002",
            )
