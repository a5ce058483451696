from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError
from django.db import DatabaseError, connections
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from drf_mcp.management.base import MCPCommand
from drf_mcp.management.screen import UsageError
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.kept_descriptions import DescriptionsFile, UnusableFile, kept_descriptions
from drf_mcp.tools.registry import registry
from drf_mcp.transports.in_process import PreloadedEndpoint, describe_endpoints

MOST_NAMES = 5


class Command(MCPCommand):
    """Describes what ``drf_mcp.preload()`` describes in a server, and shows the costs.

    Writes the descriptions to DESCRIPTIONS_FILE, if the project has one. Exits with 2 if the tools
    cannot be read off the URLconf or the file cannot be written, with 1 if ``--check`` finds that
    the file is not used, else with 0.
    """

    help = "Describe the tools of every endpoint, and print how many they are and what it takes."
    # A check may describe tools, and what they know then is not recorded.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print the figures as JSON")
        parser.add_argument(
            "--check",
            action="store_true",
            help="only check whether processes with this code and these settings use the file",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path = mcp_settings.DESCRIPTIONS_FILE
        if options["check"]:
            return self._check(path)
        try:
            found = describe_endpoints() if path is None else self._write(path)
        except ImproperlyConfigured as exc:
            raise UsageError(str(exc)) from exc
        if options["json"]:
            self.stdout.write(self.format_json([asdict(endpoint) for endpoint in found]))
        else:
            self.stdout.write("\n".join(self._list_lines(found)))

    def _check(self, path: str | None) -> None:
        try:
            if path is None:
                raise UnusableFile(_("DESCRIPTIONS_FILE is not set"))
            count = len(DescriptionsFile(path).read())
        except UnusableFile as exc:
            text = _("Each process describes the tools: %(reason)s.") % {"reason": exc}
            raise CommandError(text) from exc
        text = _("%(path)s is used. It holds %(count)s descriptions.")
        self.stdout.write(text % {"path": path, "count": number_format(count)})

    def _write(self, path: str) -> Sequence[PreloadedEndpoint]:
        try:
            # A database that does not answer would leave descriptions poorer than they are.
            for connection in connections.all():
                connection.ensure_connection()
        except DatabaseError as exc:
            raise UsageError(str(exc)) from exc
        registry.reload()
        with kept_descriptions.recording() as texts:
            found = describe_endpoints()
            run_checks(tags=["drf_mcp"])
        try:
            DescriptionsFile(path).write(texts)
        except UnusableFile as exc:
            text = _("%(path)s is not written: %(reason)s.") % {"path": path, "reason": exc}
            raise UsageError(text) from exc
        if names := sorted(tool.name for tool in kept_descriptions.left_out):
            text = _("Left out, because rows of a database describe them: %(count)s, as %(names)s.")
            facts = {"count": number_format(len(names)), "names": ", ".join(names[:MOST_NAMES])}
            self.stderr.write(text % facts)
        return found

    def _list_lines(self, found: Sequence[PreloadedEndpoint]) -> Iterator[str]:
        for each in found:
            counts = {"tools": each.tools, "bytes": each.bytes}
            facts = {name: number_format(n, force_grouping=True) for name, n in counts.items()}
            facts |= {"path": each.path, "seconds": number_format(each.seconds, 1)}
            text = _(
                "%(path)s: %(tools)s tools, %(bytes)s bytes, described in %(seconds)s seconds."
            )
            yield text % facts
