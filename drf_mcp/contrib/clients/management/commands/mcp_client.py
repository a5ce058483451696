from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from drf_mcp.contrib.clients.schema_types import ClientTools
from drf_mcp.contrib.clients.writers import ClientWriter, PythonWriter, TypeScriptWriter
from drf_mcp.management.base import MCPCommand, UsageError
from drf_mcp.settings import mcp_settings

WRITERS: dict[str, type[ClientWriter]] = {"python": PythonWriter, "typescript": TypeScriptWriter}


class Command(MCPCommand):
    help = "Write a typed client of the tools, over the official SDK of a language."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("language", choices=WRITERS, help="the language: python or typescript")
        add("--output", metavar="FILE", help="the file to write, by default stdout")
        self.add_user_argument(
            add, "only the tools that this user sees; anonymous for a caller who is not signed in"
        )
        self.add_endpoint_argument(add)

    def handle(self, *args: Any, **options: Any) -> None:
        self.endpoint = self.find_endpoint(options)
        username = options["username"]
        writer = WRITERS[options["language"]]()
        client = ClientTools(self.endpoint, writer.reserved)
        user = self.find_user_or_anonymous(username) if username else None
        tools = client.read_all(self.find_tools(username), user)
        text = writer.write(mcp_settings.SERVER_NAME, tools, client.reader.records)
        if not options["output"]:
            self.stdout.write(text, ending="")
            return
        try:
            Path(options["output"]).write_text(text, encoding="utf-8")
        except OSError as exc:
            message = _("%(file)s cannot be written: %(reason)s")
            facts = {"file": options["output"], "reason": exc.strerror or exc}
            raise UsageError(message % facts) from exc
