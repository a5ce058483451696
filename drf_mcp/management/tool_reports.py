"""Reports of ``mcp_tools`` that apps bring."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from django.utils.module_loading import import_string
from django.utils.translation import gettext as _

from drf_mcp.management.screen import Screen, UsageError
from drf_mcp.option_types.installed import features, find_apps
from drf_mcp.tools.tool import Tool


class ToolReport:
    """A report of ``mcp_tools``, run by an option that `Feature.tool_reports` names.

    Attributes:
        help: what ``--help`` says of the option.
        is_about_tools: whether the report is about the tools that the other options choose; in a
            project without any, the command then shows how to expose the first.
    """

    help: ClassVar[str] = ""
    is_about_tools: ClassVar[bool] = True

    def add_argument(self, add: Callable[..., Any], option: str) -> None:
        """Add the option to the parser of the command; by default one without a value.

        Args:
            add: takes what `ArgumentParser.add_argument` takes.
        """
        add(option, action="store_true", help=self.help)

    def run(
        self, command: Any, options: Mapping[str, Any], screen: Screen, tools: Mapping[str, Tool]
    ) -> Iterable[str]:
        """Return the lines of the report.

        Args:
            command: the running command, with its ``endpoint``, ``format_json()`` and so on.
            options: those of the command line, with the value of the report's own.
            tools: the tools that the options choose, empty for a report that is not about them.
        """
        raise NotImplementedError


def find_report(option: str) -> Any:
    """Return the `ToolReport` of an option.

    Raises:
        UsageError: if its app is not installed.
    """
    if path := features.tool_reports.get(option):
        return import_string(path)()
    app = find_apps("tool_reports")[option]
    raise UsageError(_('Add "%(app)s" to INSTALLED_APPS.') % {"app": app})


def add_reports(parser: ArgumentParser, add: Callable[..., Any]) -> None:
    """Add the options of all reports; those whose app is not installed are left out of the help.

    Args:
        add: adds an option to the group of options that exclude one another.
    """
    for option in features.tool_reports:
        find_report(option).add_argument(add, f"--{option}")
    for option in find_apps("tool_reports").keys() - features.tool_reports.keys():
        parser.add_argument(f"--{option}", nargs="?", const=True, help=SUPPRESS)
