"""What the home of the page shows to people who may view the audit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Avg, Count, Max

from drf_mcp.browsable.frame import PagePart, write_address
from drf_mcp.contrib.audit.models import Verdict
from drf_mcp.contrib.audit.recording import make_auditor
from drf_mcp.errors import MASK

PERMISSION = "drf_mcp_audit.view_auditedcall"
# Calls that are counted: a busy server makes millions.
COUNTED = 5_000
SHOWN = 8
FAILURES = (Verdict.FAILED, Verdict.SOFT_FAILURE)
CUT = re.compile(r"… \(\d+ characters\)\Z")


def _is_whole(value: Any) -> bool:
    return not isinstance(value, str) or not (value == MASK or CUT.search(value))


def _keep_whole(value: Any) -> Any:
    """Return arguments as they were sent, without values that the audit masked or cut."""
    if isinstance(value, list):
        return [_keep_whole(each) for each in value if _is_whole(each)]
    if not isinstance(value, dict):
        return value
    return {name: _keep_whole(each) for name, each in value.items() if _is_whole(each)}


class AuditPart(PagePart):
    """Shows the last calls and failures, tools that nobody calls, and the sizes of results."""

    def get_home(self, tools: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        user = getattr(self.page.request, "user", None)
        auditor = make_auditor()
        if auditor is None or user is None or not user.has_perm(PERMISSION):
            return ()
        last = auditor.rows.order_by("-pk").values_list("pk", flat=True).first() or 0
        rows = auditor.rows.filter(pk__gt=last - COUNTED).exclude(tool="")
        called = set(rows.values_list("tool", flat=True).distinct())
        if rest := tools.keys() - called:
            called |= set(auditor.rows.filter(tool__in=rest).values_list("tool", flat=True))
        sizes = rows.exclude(result_tokens=None).order_by().values("tool")
        sizes = sizes.annotate(tokens=Avg("result_tokens"), most=Max("result_tokens"))
        context = {
            "template": "drf_mcp_audit/home.html",
            "counted": COUNTED,
            "is_staff": user.is_staff,
            "tools": tools,
            "calls": [self._open(row, tools) for row in rows.order_by("-pk")[:SHOWN]],
            "failures": self._find_failures(rows, tools),
            "uncalled": [name for name in tools if name not in called],
            "sizes": sizes.order_by("-tokens")[:SHOWN],
        }
        return [context]

    def _find_failures(self, rows: Any, tools: Mapping[str, Any]) -> list[Any]:
        """Return the last call of each failure, the most frequent first, with ``times``."""
        groups = rows.filter(verdict__in=FAILURES).order_by()
        groups = groups.values("tool", "argument", "sentence", "code")
        counted = groups.annotate(times=Count("pk"), last=Max("pk")).order_by("-times", "-last")
        times = {group["last"]: group["times"] for group in counted[:SHOWN]}
        found = {row.pk: self._open(row, tools) for row in rows.filter(pk__in=times)}
        for pk, row in found.items():
            row.times = times[pk]
        return [found[pk] for pk in times]

    def _open(self, row: Any, tools: Mapping[str, Any]) -> Any:
        """Return a row with the address of its call in the tool's ``form``, "" without one."""
        arguments = _keep_whole(row.as_data()["arguments"])
        known = arguments if isinstance(arguments, dict) else {}
        row.form = write_address(row.tool, known) if row.tool in tools else ""
        return row
