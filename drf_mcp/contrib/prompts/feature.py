from __future__ import annotations

from drf_mcp.features import Feature


class PromptsFeature(Feature):
    capability_classes = (
        "drf_mcp.contrib.prompts.capability.PromptsCapability",
        "drf_mcp.contrib.prompts.completion.CompletionCapability",
    )
