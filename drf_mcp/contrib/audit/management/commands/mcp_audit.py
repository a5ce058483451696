from __future__ import annotations

import json
import re
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime
from django.utils.translation import ngettext

from drf_mcp.contrib.audit.auditor import Auditor
from drf_mcp.contrib.audit.models import AuditedCall, Verdict
from drf_mcp.management.base import MCPCommand
from drf_mcp.management.screen import UsageError, find_local_time

SHOWN = 50
CHUNK = 2_000
UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
LOOKUPS = {"since": "time__gte", "until": "time__lt", "tool": "tool", "request_id": "request_id"}


class Command(MCPCommand):
    """Shows the newest calls that match, or exports all of them."""

    help = "Show or export the record of calls that drf_mcp.contrib.audit keeps."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        self.add_user_argument(add, "of this user; anonymous for calls of no user")
        add("--tool", help="only calls of this tool")
        add(
            "--verdict",
            metavar="VERDICT",
            help=f"{', '.join(Verdict.values)}, or an error code such as NOT_FOUND",
        )
        add("--request", metavar="ID", dest="request_id", help="the call with this request id")
        moment = "a date, a date with a time, or an age such as 30m, 12h, 7d"
        add(
            "--since",
            type=self._read_moment,
            metavar="WHEN",
            help=f"only calls from this time on: {moment}",
        )
        add("--until", type=self._read_moment, metavar="WHEN", help="only calls before this time")
        add("--limit", type=int, default=SHOWN, help=f"how many calls are shown ({SHOWN})")
        add("--wanted", action="store_true", help="what agents looked for and did not find")
        add("--json", action="store_true", help="print the shown calls as JSON lines")
        add(
            "--export",
            action="store_true",
            help="print all matching calls as JSON lines, the oldest first",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        rows = self.get_rows(options)
        if options["export"]:
            self._write_lines(rows.order_by("time", "pk").iterator(chunk_size=CHUNK))
            return
        if options["wanted"]:
            counted = AuditedCall.count_wanted(rows).order_by("-times", "-time")
            lines = [f"{row.times:>6}  {row.wanted}" for row in counted[: max(options["limit"], 0)]]
            self.stdout.write("\n".join(lines) if lines else "No call matches.")
            return
        newest = rows.order_by("-time", "-pk")[: max(options["limit"], 0)]
        if options["json"]:
            self._write_lines(newest)
            return
        lines = [self.describe(row) for row in newest]
        self.stdout.write("\n".join(lines) if lines else "No call matches.")

    def get_rows(self, options: dict[str, Any]) -> Any:
        rows = Auditor().rows.all()
        if (username := options["username"]) is not None:
            # The name that was recorded finds users who are gone; the key, who were renamed.
            named = rows.filter(user_label=username)
            try:
                user = self.find_user_or_anonymous(username)
                rows = rows.filter(user_pk="" if user is None else str(user.pk))
            except UsageError:
                if not named.exists():
                    raise
                rows = named
        for name, lookup in LOOKUPS.items():
            if options[name] is not None:
                rows = rows.filter(**{lookup: options[name]})
        if (verdict := options["verdict"]) is not None:
            rows = rows.filter(Q(verdict=verdict.lower()) | Q(code=verdict.upper()))
        return rows

    def _read_moment(self, text: str) -> datetime:
        if age := re.fullmatch(r"(\d{1,6})([mhdw])", text):
            return timezone.now() - timedelta(**{UNITS[age[2]]: int(age[1])})
        try:
            moment: datetime | date | None = parse_datetime(text) or parse_date(text)
        except ValueError:
            moment = None
        if moment is None:
            raise ArgumentTypeError(f"{text!r} is neither a date nor an age such as 12h.")
        if not isinstance(moment, datetime):
            moment = datetime.combine(moment, time())
        if settings.USE_TZ and timezone.is_naive(moment):
            return timezone.make_aware(moment)
        if not settings.USE_TZ and timezone.is_aware(moment):
            return timezone.make_naive(moment)
        return moment

    def describe(self, row: AuditedCall) -> str:
        when = f"{find_local_time(row.time):%Y-%m-%d %H:%M:%S}"
        verdict = f"{row.verdict} {row.code}".strip()
        who = row.user_label or row.user_pk or row.address or "anonymous"
        parts = [when, who, row.tool or row.method, verdict]
        if row.messages > 1:
            count = ngettext("%(count)d message", "%(count)d messages", row.messages)
            parts.append(count % {"count": row.messages})
        if row.rows_changed is not None:
            rows = ngettext("%(count)d row", "%(count)d rows", row.rows_changed)
            parts.append(rows % {"count": row.rows_changed})
        if row.duration_ms is not None:
            parts.append(f"{row.duration_ms:.1f} ms")
        return "  ".join(filter(None, [*parts, row.request_id]))

    def _write_lines(self, rows: Iterable[AuditedCall]) -> None:
        for row in rows:
            self.stdout.write(json.dumps(row.as_data(), ensure_ascii=False))
