from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from drf_mcp.management.base import MCPCommand
from drf_mcp.management.screen import UsageError
from drf_mcp.transports.preloading import PreloadedEndpoint, describe_endpoints


class Command(MCPCommand):
    """Describes what ``drf_mcp.preload()`` describes in a server, and shows the costs.

    Exits with 2 if the tools cannot be read off the URLconf, else with 0.
    """

    help = "Describe the tools of every endpoint, and tell their number, seconds and bytes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print the figures as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            found = describe_endpoints()
        except ImproperlyConfigured as exc:
            raise UsageError(str(exc)) from exc
        if options["json"]:
            self.stdout.write(self.format_json([asdict(endpoint) for endpoint in found]))
        else:
            self.stdout.write("\n".join(self._list_lines(found)))

    def _list_lines(self, found: Sequence[PreloadedEndpoint]) -> Iterator[str]:
        for each in found:
            counts = {"tools": each.tools, "bytes": each.bytes}
            facts = {name: number_format(n, force_grouping=True) for name, n in counts.items()}
            facts |= {"path": each.path, "seconds": number_format(each.seconds, 1)}
            text = _(
                "%(path)s: %(tools)s tools, %(bytes)s bytes, described in %(seconds)s seconds."
            )
            yield text % facts
