from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from drf_mcp.contrib.aggregates import SHARED
from drf_mcp.features import CallState, Feature
from drf_mcp.option_types.installed import Setting
from drf_mcp.option_types.kinds import Choice, Words


class AggregatesFeature(Feature):
    settings = {
        # "auto" adds one tool, lists_aggregate, for the figures of all lists that declare none:
        # by choices, keys, flags and dates that the list shows to its caller. See
        # docs/aggregates.md.
        "AGGREGATES": Setting("declared", Choice("declared", "auto")),
    }
    tool_options = {
        # The serializer's fields by which a further tool, such as orders_aggregate, counts, sums
        # up and groups the rows of the list.
        "aggregate": Setting((), Words(), chooses_tools=True),
    }

    def get_choices(self, exposure: Any, choice: Any) -> Iterator[Any]:
        endpoint, fields = choice.endpoint, tuple(dict.fromkeys(choice.options.aggregate))
        if not fields or endpoint.standard_action != "list":
            return
        from drf_mcp.contrib.aggregates.listing import DEFAULTS, AggregateEndpoint
        from drf_mcp.contrib.aggregates.tool import AggregateTool

        options = exposure.merge_view_options(endpoint, "aggregate")
        yield replace(
            choice,
            endpoint=AggregateEndpoint.of_list(endpoint, fields),
            options=replace(options, **DEFAULTS),
            named=False,
            tool_class=AggregateTool,
        )

    def get_tools(self, tools: Mapping[str, Any]) -> list[Any]:
        from drf_mcp.contrib.aggregates.shared import SharedTool
        from drf_mcp.settings import mcp_settings

        shared = SharedTool.of_lists(tools) if mcp_settings.AGGREGATES == "auto" else None
        return [] if shared is None else [shared]

    def redirect(self, call: CallState) -> None:
        if call.tool.name == SHARED:
            call.tool.redirect(call)
