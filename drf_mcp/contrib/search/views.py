from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from drf_mcp.interaction.call_context import call_context
from drf_mcp.interaction.exchange import Slot, find_call
from drf_mcp.tools.server_tools import ServerToolView

# The tools that run others.
READ, WRITE = "tools_read", "tools_write"
# The tools that a call of tools_search searches.
INDEX: Slot[Any] = Slot()


class SearchArguments(serializers.Serializer[Any]):
    query = serializers.CharField(required=False, default="", allow_blank=True, max_length=1000)
    definitions = serializers.BooleanField(default=False)
    offset = serializers.IntegerField(min_value=0, default=0)


class ToolSearchView(ServerToolView):
    """Answers with the tools that a query is about, or with the groups of all tools."""

    def get(self, request: Request) -> Response:
        arguments = SearchArguments(data=request.query_params)
        arguments.is_valid(raise_exception=True)
        asked = arguments.validated_data
        call = find_call(request)
        index = INDEX.get(call)
        assert call is not None
        assert index is not None
        index.client_limit = call.client_limit
        if not asked["query"]:
            return Response(index.list_groups(asked["offset"]))
        answer = index.search(asked["query"], asked["offset"], asked["definitions"])
        if "groups" in answer:
            advice = _(
                "No tool has a word of the query. These are the nearest, and the groups that there"
                " are: try other words."
            )
            call_context(request).suggest(advice)
        return Response(answer)
