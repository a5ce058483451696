from __future__ import annotations

from drf_mcp.features import WORDS, Bound, Feature, Setting


class AggregatesFeature(Feature):
    settings = {
        # Names in `group_by`, and in `metrics`.
        "MAX_FIGURES": Setting(
            20, Bound("'group_by' and 'metrics' take at most %(most)s names each.")
        )
    }
    tool_options = {
        # The serializer's fields by which a further tool, such as orders_aggregate, counts, sums up
        # and groups the rows of the list. See docs/aggregates.md.
        "aggregate": Setting((), WORDS, chooses_tools=True)
    }
    tool_source = "drf_mcp.contrib.aggregates.tool.AggregateSource"
