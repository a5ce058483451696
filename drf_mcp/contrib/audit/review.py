from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drf_mcp.contrib.audit.recording import make_auditor
from drf_mcp.features import Safeguard, ToolReview


class AuditReview(ToolReview):
    def get_safeguards(self, tool: Any) -> Sequence[Safeguard]:
        return [Safeguard("audit", "audit", make_auditor() is not None, order=700)]
