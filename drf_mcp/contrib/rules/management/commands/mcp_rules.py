from __future__ import annotations

from argparse import ArgumentParser
from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.apps import apps
from django.core.management.color import no_style
from django.utils.module_loading import import_string

from drf_mcp.contrib.rules.past_calls import UNKNOWN, PastVerdict, judge_past_call
from drf_mcp.contrib.rules.ruling import (
    ALLOW,
    APPROVE,
    REFUSE,
    ViewRefused,
    decide_call,
    find_rules,
)
from drf_mcp.dispatch.dispatcher import Dispatcher
from drf_mcp.errors import ArgumentsRefused, CallCrashed
from drf_mcp.features import CallState
from drf_mcp.management.base import MCPCommand, read_call_arguments
from drf_mcp.management.screen import Screen, UsageError, find_local_time

AUDIT = "drf_mcp.contrib.audit"
# The calls of the audit that `test` judges.
JUDGED = 200
APPROVAL_REQUIRED = "APPROVAL_REQUIRED"
WORDS = {ALLOW: "allowed", APPROVE: "asked", REFUSE: "refused", UNKNOWN: "not known"}


class Command(MCPCommand):
    """Lists the rules of ``drf_mcp.contrib.rules`` in their order, and tries them."""

    help = "List the rules about calls in their order, or try which one decides about a call."

    def add_arguments(self, parser: ArgumentParser) -> None:
        commands = parser.add_subparsers(dest="action", required=True)
        listed = commands.add_parser(
            "list", help="list the rules, in the order in which they decide"
        )
        listed.add_argument("--tool", help="only the rules about this tool")
        tried = commands.add_parser(
            "test",
            help="show which rule decides about a call, or would have about calls of the audit",
        )
        tried.add_argument(
            "name",
            nargs="?",
            metavar="TOOL",
            help="the tool, as mcp_tools lists it; the last calls of the audit by default",
        )
        tried.add_argument(
            "arguments",
            nargs="*",
            metavar="key=value",
            help="the arguments of the tool, as for mcp_call",
        )
        self.add_user_argument(
            tried.add_argument, "who calls, by USERNAME_FIELD; an anonymous caller by default"
        )
        tried.add_argument("--rule", help="only this rule, also if it is not active")
        tried.add_argument(
            "--limit", type=int, default=JUDGED, help=f"how many calls of the audit ({JUDGED})"
        )
        for each in (listed, tried):
            self.add_endpoint_argument(each.add_argument)
            each.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        self.endpoint = self.find_endpoint(options)
        getattr(self, options["action"])(options)

    def list(self, options: dict[str, Any]) -> None:
        tool = options["tool"] and self.find_tool(options["tool"])
        rules = find_rules(tool)
        rows = [(str(r.order), r.name, ", ".join(r.patterns), r.label) for r in rules]
        headings = ("ORDER", "RULE", "TOOLS", "DECIDES")
        lines = Screen(self.width, no_style()).list_table(headings, rows)
        names = ("order", "name", "tools", "decides")
        self.write_data([dict(zip(names, row, strict=True)) for row in rows], lines, options)

    def test(self, options: dict[str, Any]) -> None:
        if options["name"] is None:
            self.test_past(options)
            return
        tool = self.find_tool(options["name"])
        user = self.find_user(options["username"])
        arguments = read_call_arguments(options["arguments"])
        call = CallState(tool, arguments, self.endpoint.make_caller(user))
        call.dispatcher = Dispatcher()
        try:
            rules = [each for each in self._find_rules(options) if tool.matches(each.patterns)]
            rule, ruling, _place = decide_call(rules, call)
        except ArgumentsRefused as exc:
            raise UsageError(" ".join(problem.message for problem in exc.problems)) from exc
        except ViewRefused as exc:
            failure = exc.outcome.failure
            raise UsageError(failure.message if failure else str(exc.outcome.status)) from exc
        except CallCrashed as exc:
            raise UsageError(f"A rule failed: {exc.cause!r}. The call is refused.") from exc
        verdict = "ask for an approval" if ruling.verdict == APPROVE else ruling.verdict
        data = {"rule": rule and rule.name, "verdict": verdict, "reason": ruling.reason}
        if rule is None:
            lines = ["No rule decides: the call is made."]
        else:
            lines = [f"{rule.order} {rule.name}: {verdict}", ruling.reason, rule.label]
        self.write_data(data, filter(None, lines), options)

    def _find_rules(self, options: dict[str, Any]) -> Sequence[Any]:
        if (name := options["rule"]) is None:
            return find_rules()
        every = find_rules(only_active=False)
        if named := [rule for rule in every if rule.name == name]:
            return named
        raise UsageError.unknown("rule", name, [rule.name for rule in every])

    def test_past(self, options: dict[str, Any]) -> None:
        make_auditor: Any = apps.is_installed(AUDIT) and import_string(
            f"{AUDIT}.recording.make_auditor"
        )
        auditor = make_auditor and make_auditor()
        if not auditor:
            raise UsageError(f"{AUDIT} keeps no calls here. Install it, or name a TOOL.")
        auditor.flush()
        tools = self.endpoint.make_server().registry.tools()
        kept = auditor.rows.filter(method="tools/call", tool__in=tools, is_trial=False)
        rules = self._find_rules(options)
        counts, reasons, changed = Counter[Any](), Counter[str](), []
        for row in kept.order_by("-time", "-pk")[: max(options["limit"], 0)]:
            past = judge_past_call(row, tools[row.tool], rules, self.endpoint)
            counts[past.rule, past.verdict] += 1
            if past.reason:
                reasons[f"{past.rule.name}: not known: {past.reason}"] += 1
            elif _is_changed(row, past.verdict, kept):
                changed.append(_describe(row, past))
        names = ("rule", *WORDS.values())
        table = [[rule.name, *(counts[rule, verdict] for verdict in WORDS)] for rule in rules]
        found = [dict(zip(names, cells, strict=True)) for cells in table]
        data = {"calls": counts.total(), "rules": found, "not_known": reasons, "changed": changed}
        lines = [
            *Screen(self.width, no_style()).list_table(
                [name.upper() for name in names], [[*map(str, cells)] for cells in table]
            ),
            *(f"{reason} ({count})" for reason, count in reasons.items()),
            f"{counts.total()} calls, of which {len(changed) or 'none'} would have been decided"
            f" otherwise{', the newest first:' if changed else '.'}",
            *("  ".join(filter(None, each.values())) for each in changed),
        ]
        self.write_data(data, lines, options)


def _is_changed(row: Any, verdict: str, kept: Any) -> bool:
    """Return whether a call that was made would not have been, or a call that waited would."""
    if row.code == APPROVAL_REQUIRED:
        return verdict != APPROVE
    if row.verdict != "success" or verdict == ALLOW:
        return False
    # An approved call is kept twice: when it was asked for, and when it was made.
    same = {name: getattr(row, name) for name in ("tool", "arguments", "user_pk")}
    asked = kept.filter(code=APPROVAL_REQUIRED, time__lte=row.time, **same)
    return verdict != APPROVE or not asked.exists()


def _describe(row: Any, past: PastVerdict) -> dict[str, str]:
    return {
        "time": f"{find_local_time(row.time):%Y-%m-%d %H:%M}",
        "user": row.user_label or row.user_pk or "anonymous",
        "tool": row.tool,
        "request_id": row.request_id,
        "now": WORDS[past.verdict],
        "rule": past.rule.name if past.rule else "",
    }
