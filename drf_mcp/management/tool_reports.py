"""Reports of ``mcp_tools`` that apps bring."""

from __future__ import annotations

from argparse import REMAINDER, SUPPRESS, ArgumentParser
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

from django.utils.module_loading import import_string
from django.utils.translation import gettext as _

from drf_mcp.management.screen import Screen, UsageError
from drf_mcp.option_types.installed import features, find_apps
from drf_mcp.tools.tool import Tool


class ToolReport:
    """A report of ``mcp_tools``, run by a verb that `Feature.tool_reports` names.

    Attributes:
        help: what ``--help`` says of the verb.
        is_about_tools: whether the report is about the tools that the options choose; in a
            project without any, the command then shows how to expose the first.
    """

    help: ClassVar[str] = ""
    is_about_tools: ClassVar[bool] = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the verb's own arguments; ``--as``, ``--json`` and ``--endpoint`` are there."""

    def run(
        self, command: Any, options: Mapping[str, Any], screen: Screen, tools: Mapping[str, Tool]
    ) -> Iterable[str]:
        """Return the lines of the report.

        Args:
            command: the running command, with its ``endpoint``, ``format_json()`` and so on.
            options: those of the command line, with the report's own.
            tools: the tools that the options choose, empty for a report that is not about them.
        """
        raise NotImplementedError


def find_report(verb: str) -> Any:
    """Return the `ToolReport` of a verb.

    Raises:
        UsageError: if its app is not installed.
    """
    if path := features.tool_reports.get(verb):
        return import_string(path)()
    app = find_apps("tool_reports")[verb]
    raise UsageError(_('Add "%(app)s" to INSTALLED_APPS.') % {"app": app})


def add_reports(verbs: Any) -> Iterator[ArgumentParser]:
    """Add the verbs of all reports, and yield the parsers of those whose app is installed.

    Args:
        verbs: what `ArgumentParser.add_subparsers` returns.
    """
    for verb in features.tool_reports:
        report = find_report(verb)
        parser = verbs.add_parser(verb, help=report.help)
        report.add_arguments(parser)
        yield parser
    for verb in find_apps("tool_reports").keys() - features.tool_reports.keys():
        # No help: these verbs only say which app is missing.
        verbs.add_parser(verb).add_argument("rest", nargs=REMAINDER, help=SUPPRESS)
