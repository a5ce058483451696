from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from drf_mcp.features import WORDS, Bound, Feature, Setting


class AggregatesFeature(Feature):
    settings = {
        # Names in `group_by`, and in `metrics`. For reports with many columns.
        "MAX_FIGURES": Setting(
            20, Bound("'group_by' and 'metrics' take at most %(most)s names each.")
        ),
    }
    tool_options = {
        # The serializer's fields by which a further tool, such as orders_aggregate, counts, sums up
        # and groups the rows of the list. For lists whose figures agents ask for.
        "aggregate": Setting((), WORDS, chooses_tools=True),
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
