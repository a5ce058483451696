"""The tools by which a caller asks for a proposal, and withdraws it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.http import Http404
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from drf_mcp.contrib.rules.proposal_store import ProposalStore
from drf_mcp.contrib.rules.proposing import RETRIEVE, WITHDRAW, describe_proposal
from drf_mcp.dispatch.probe import REFUSALS
from drf_mcp.dispatch.stored_answers import MADE, StoredAnswer
from drf_mcp.interaction.exchange import find_call
from drf_mcp.settings import override_language
from drf_mcp.tools.server_tools import ServerTool, ServerToolView


class ProposalId(serializers.Serializer):  # type: ignore[type-arg]
    id = serializers.CharField()


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
        row, call = self.find(request, request.query_params.get("id")), find_call(request)
        facts = describe_proposal(row)
        tool = call.server.registry.tools().get(row.tool)
        is_offered = tool is not None and call.caller.find_narrowing(tool) is None
        if is_offered and row.answer is not None:
            facts["answer"] = row.answer
            try:
                # What came of the call, if its caller has the rights that it was made under.
                if terms := row.terms:
                    kwargs, query = terms["kwargs"], terms["query_string"]
                    StoredAnswer(call.caller, tool, kwargs, query).check(terms)
            except REFUSALS:
                facts["answer"] = {"error": {"message": _(MADE)}}
        return Response(facts)

    def post(self, request: Request) -> Response:
        sent = ProposalId(data=request.data)
        sent.is_valid(raise_exception=True)
        row = self.find(request, sent.validated_data["id"])
        if not ProposalStore().withdraw(row):
            raise row.conflict
        return Response(describe_proposal(row))


@override_language()
def make_tools() -> Iterator[ServerTool]:
    """Yield the tools, with texts in the project's own language."""
    argument = {"id": {"type": "string", "description": _("The proposal, as the call answered.")}}
    yield ServerTool.make(
        RETRIEVE,
        ProposalView,
        title=_("State of a proposed call"),
        description=_("Say whether a call that waits for an approval is approved, and its result."),
        query=argument,
        output_schema=None,
    )
    yield ServerTool.make(
        WITHDRAW,
        ProposalView,
        method="POST",
        title=_("Withdraw a proposed call"),
        description=_("Withdraw a call that waits for an approval."),
        body=argument,
        output_schema=None,
    )
