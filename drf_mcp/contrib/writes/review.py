from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drf_mcp.contrib.writes.confirmation import find_confirmation
from drf_mcp.features import Safeguard, ToolReview


class WritesReview(ToolReview):
    def get_safeguards(self, tool: Any) -> Sequence[Safeguard]:
        names, hints = {parameter.name for parameter in tool.controls}, tool.annotations
        # An update may overwrite something, but does not destroy as CONFIRM means it.
        destroys = tool.options.choose_flag("destructive", tool.endpoint.method == "DELETE")
        asks, writes_one = find_confirmation(tool), tool.endpoint.key_kwarg is not None
        # A call that changes nothing when it is repeated needs no key.
        repeats = not hints["idempotentHint"]
        return [
            Safeguard("confirmation", "confirm", bool(asks), hints["destructiveHint"], destroys),
            Safeguard("dry_run", "dry_run", "dry_run" in names),
            Safeguard("idempotency_key", "key", "idempotency_key" in names, repeats),
            Safeguard("if_match", "match", "if_match" in names, writes_one),
        ]
