from __future__ import annotations

import re
from argparse import ArgumentParser
from datetime import date, datetime, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.color import no_style
from django.db.models import QuerySet
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from drf_mcp.contrib.tokens.models import KEY, AgentToken, find_end
from drf_mcp.management.base import MCPCommand
from drf_mcp.management.screen import Screen, UsageError, find_local_time
from drf_mcp.management.tool_reports import find_report
from drf_mcp.transports.in_process import LocalEndpoint

DAYS = re.compile(r"(\d{1,5})d")
COLUMNS = (
    "TOKEN",
    "USER",
    "NAME",
    "OPENS",
    "VALID UNTIL",
    "LAST USED",
    "STATE",
)


class Command(MCPCommand):
    """Makes tokens of ``drf_mcp.contrib.tokens`` for agents, lists and revokes them."""

    help = "Make, list and revoke tokens for agents."

    def add_arguments(self, parser: ArgumentParser) -> None:
        commands = parser.add_subparsers(dest="action", required=True)
        create = commands.add_parser(
            "create", help="make a token and print it, which is possible only once"
        )
        create.add_argument("user", help="the user whose rights the agent has, by USERNAME_FIELD")
        create.add_argument("name", help="the name of the agent")
        add = create.add_argument
        add(
            "--tools",
            nargs="+",
            default=[],
            metavar="PATTERN",
            help="patterns as in INCLUDE; by default all tools",
        )
        add("--read-only", action="store_true", help="only tools that change nothing")
        add(
            "--expires",
            metavar="DATE",
            help="the last day (2030-12-31) or a number of days (90d); by default never",
        )
        add(
            "--networks",
            nargs="+",
            default=[],
            metavar="CIDR",
            help="networks such as 203.0.113.0/24; by default all",
        )
        listed = commands.add_parser(
            "list", help="list the tokens, with the time of their last use"
        )
        self.add_user_argument(listed.add_argument, "only the tokens of this user")
        listed.add_argument(
            "--all", action="store_true", help="also list expired and revoked tokens"
        )
        why = commands.add_parser(
            "why", help="show what decides about a call with a token, step by step"
        )
        why.add_argument("token", metavar="TOKEN", help="as listed: mcp_ab12cd34")
        why.add_argument("tool", metavar="TOOL", help="the tool, as mcp_tools lists it")
        revoke = commands.add_parser("revoke", help="revoke tokens for good")
        revoke.add_argument("tokens", nargs="+", metavar="TOKEN", help="as listed: mcp_ab12cd34")
        for each in (create, listed, why, revoke):
            each.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        getattr(self, options["action"])(options)

    @sensitive_variables("key")
    def create(self, options: dict[str, Any]) -> None:
        token = AgentToken(
            user=self.find_user(options["user"]),
            name=options["name"],
            tools=options["tools"],
            read_only=options["read_only"],
            networks=options["networks"],
            expires=self._read_end(options["expires"]),
        )
        key = token.issue()
        try:
            token.full_clean()
        except ValidationError as exc:
            raise UsageError(" ".join(exc.messages)) from exc
        token.save()
        # The token alone goes to the output, so that a script can keep it.
        notice = "Keep it now: it is shown this once, and cannot be looked up."
        self.stderr.write(notice, self.style.NOTICE)
        self.write_data({"token": key, **self.as_data(token)}, [key], options)

    def list(self, options: dict[str, Any]) -> None:
        tokens: QuerySet[AgentToken] = AgentToken.objects.select_related("user")
        if options["username"] is not None:
            tokens = tokens.filter(user=self.find_user(options["username"]))
        shown = [token for token in tokens if options["all"] or token.state == "open"]
        screen, headings = Screen(self.width, no_style()), list(COLUMNS)
        lines = screen.list_table(headings, map(self._write_row, shown))
        self.write_data([self.as_data(token) for token in shown], lines, options)

    def revoke(self, options: dict[str, Any]) -> None:
        tokens = [self._get_token(text) for text in options["tokens"]]
        for token in tokens:
            token.revoke()
        lines = (f"Revoked {token}." for token in tokens)
        self.write_data([self.as_data(token) for token in tokens], lines, options)

    def as_data(self, token: AgentToken) -> dict[str, Any]:
        names = ("name", "tools", "read_only", "networks", "expires", "last_used")
        facts = {name: getattr(token, name) for name in names}
        user = token.user.get_username()
        return {"key": token.shown_key, "user": user, **facts, "state": token.state}

    def _write_row(self, token: AgentToken) -> tuple[str, ...]:
        facts = [" ".join(token.tools) or "all tools"]
        if token.read_only:
            facts.append("read-only")
        if token.networks:
            facts.append("from {networks}".format(networks=" ".join(token.networks)))
        return (
            token.shown_key,
            token.user.get_username(),
            token.name,
            ", ".join(facts),
            self._show_time(token.expires),
            self._show_time(token.last_used),
            token.state,
        )

    def _show_time(self, value: datetime | None) -> str:
        return "never" if value is None else f"{find_local_time(value):%Y-%m-%d %H:%M}"

    def why(self, options: dict[str, Any]) -> None:
        token = self._get_token(options["token"])
        if fault := token.find_fault():
            verdict = f"No call is taken. {fault}"
            self.write_data({"allows": False, "verdict": verdict}, [verdict], options)
            return
        self.endpoint = LocalEndpoint()
        tool = self.find_tool(options["tool"])
        trace = find_report("why").trace(tool, token.user, narrowings=[token.narrowing])
        lines = trace.list_lines(Screen(self.width, no_style()))
        self.write_data(trace.as_data(), lines, options)

    def _get_token(self, text: str) -> AgentToken:
        # A whole token, its beginning as it is listed, or its prefix.
        found = KEY.match(f"{text}_")
        prefix = found["prefix"] if found else text
        token = AgentToken.objects.filter(prefix=prefix).first()
        if token is None:
            known = AgentToken.objects.in_state("open").values_list("prefix", flat=True)
            raise UsageError.unknown("token", prefix, known)
        return token

    def _read_end(self, text: str | None) -> datetime | None:
        if text is None:
            return None
        if days := DAYS.fullmatch(text):
            return timezone.now() + timedelta(days=int(days[1]))
        try:
            last_day = date.fromisoformat(text)
        except ValueError:
            message = f"{text!r} is neither a day like 2030-12-31 nor 90d."
            raise UsageError(message) from None
        end = find_end(last_day)
        if end <= timezone.now():
            raise UsageError(f"{text} is in the past.")
        return end
