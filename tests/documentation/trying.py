"""Tries the code on pages: ``python -m tests.documentation.trying`` reads page names from stdin.

Each page runs in a process of its own, in the example project with its rows. Files that the page
names are written to a folder and imported; the routes of a package with ``urls.py`` are served in
addition to the project's. Prints one line of JSON with a line number and a message for each
failure.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import shlex
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import django

from tests.documentation.pages import ROOT, Block, Command, blocks, commands
from tests.documentation.printed import is_shown

# The names that a snippet may use without an import, as in Django's own templates.
PRELUDE = """
from django.urls import include, path
from example_project.settings import *
urlpatterns = []
"""
# The pages whose commands need the settings that the page shows. Others run as in the demo.
CONFIGURED = {"sign_in_own.md"}
# The time limit of a page.
SECONDS = 120
# A command ends at these words of a shell.
SHELL = frozenset({"|", "||", "&&", ">", ">>", "<", "2>", ";"})


class Trial:
    """Tries one page.

    Attributes:
        folder: the folder of its files.
        namespace: the names of the snippets that belong to no file.
        settings: what these snippets put into ``DRF_MCP``.
        failures: the line and the message of each failure.
    """

    def __init__(self, page: Path, folder: Path) -> None:
        self.page = page
        self.folder = folder
        self.namespace: dict[str, Any] = {}
        self.settings: dict[str, Any] = {}
        self.failures: list[tuple[int, str]] = []

    def run(self) -> None:
        exec(PRELUDE, self.namespace)
        project = {**self.namespace.pop("DRF_MCP"), "SERVER_VERSION": "1.0.0"}
        snippets = [b for b in blocks(self.page) if b.language == "python" and not b.is_test]
        packages, folder = self.write(snippets), self.folder
        install({name for name in packages if is_app(folder / name)})
        for snippet in snippets:
            self.attempt(snippet.line, lambda snippet=snippet: self.execute(snippet))
        self.attempt(0, lambda: serve({n for n in packages if (folder / n / "urls.py").exists()}))
        shown = self.settings if self.page.name in CONFIGURED else {}
        reconfigure({**project, **shown})
        for command in commands(self.page):
            self.attempt(command.line, lambda command=command: execute(command))

    def attempt(self, line: int, action: Any) -> None:
        try:
            action()
        except (Exception, SystemExit) as exc:  # noqa: BLE001
            told = "".join(traceback.format_exception_only(exc)).strip()
            self.failures.append((line, told))

    def write(self, snippets: list[Block]) -> set[str]:
        files: dict[str, str] = {}
        for snippet in snippets:
            if snippet.file and "/" in snippet.file:
                files[snippet.file] = files.get(snippet.file, "") + snippet.text
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return {name.partition("/")[0] for name in files}

    def execute(self, snippet: Block) -> None:
        """Import the file of a snippet, or execute it."""
        if snippet.file and "/" in snippet.file:
            importlib.import_module(snippet.file.removesuffix(".py").replace("/", "."))
            return
        exec(compile(snippet.text, f"{self.page.name}:{snippet.line}", "exec"), self.namespace)
        install(set(self.namespace["INSTALLED_APPS"]))
        given = self.namespace.pop("DRF_MCP", {})
        check_settings(given)
        self.settings |= given


def is_app(package: Path) -> bool:
    return (package / "models.py").exists() or (package / "apps.py").exists()


def check_settings(project: dict[str, Any]) -> None:
    from drf_mcp.settings import mcp_settings

    for name in project:
        if name not in mcp_settings.table:
            raise NameError(mcp_settings.refuse_name(name))


def install(packages: set[str]) -> None:
    from django.apps import apps
    from django.conf import settings
    from django.core.management import call_command

    from drf_mcp.option_types.installed import features

    known = [config.name for config in apps.get_app_configs()]
    added = sorted(packages.difference(known, settings.INSTALLED_APPS))
    if added:
        apps.set_installed_apps([*known, *added])
        features.forget()
        call_command("migrate", run_syncdb=True, verbosity=0)


def serve(packages: set[str]) -> None:
    """Serve the routes of the packages in addition to the project's."""
    from django.conf import settings
    from django.urls import clear_url_caches, include, path

    from drf_mcp import registry

    module = type("URLConf", (), {})
    module.urlpatterns = [
        *(path("", include(f"{name}.urls")) for name in sorted(packages)),
        path("", include("example_project.urls")),
    ]
    settings.ROOT_URLCONF = module
    clear_url_caches()
    registry.reload()


def reconfigure(project: dict[str, Any]) -> None:
    from django.conf import settings
    from django.core.signals import setting_changed

    settings.DRF_MCP = project
    setting_changed.send(None, setting="DRF_MCP", value=settings.DRF_MCP, enter=True)


def execute(command: Command) -> None:
    """Run one of our commands, and compare its output with the page.

    The command may fail if the page shows how.
    """
    arguments = split_own_command(command.text)
    if arguments is None:
        return
    status, printed = call(arguments)
    shown = command.shown.strip()
    if shown and not is_shown(shown, printed):
        raise AssertionError(f"{command.text}\nprints (status {status})\n{printed}")
    # 3: the call has to be confirmed first, which the page need not show.
    if status not in (0, 3) and not shown:
        raise AssertionError(f"{command.text}\nends with status {status}\n{printed}")


# They change files, read stdin, or start a program that may be missing.
NOT_RUN = ("mcp_init", "mcp_stdio", "mcp_inspector")


def split_own_command(text: str) -> list[str] | None:
    words = shlex.split(text, comments=True)
    before = words[: words.index("manage.py") + 1] if "manage.py" in words else words
    rest = words[len(before) :]
    if not rest or not rest[0].startswith("mcp_") or rest[0] in NOT_RUN:
        return None
    end = next((place for place, word in enumerate(rest) if word in SHELL), len(rest))
    return rest[:end]


def call(arguments: list[str]) -> tuple[int, str]:
    from django.core.management import CommandError, call_command

    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            call_command(*arguments, stdout=out, stderr=out)
        except SystemExit as exc:
            return int(exc.code or 0), out.getvalue()
        except CommandError as exc:
            return exc.returncode, f"{out.getvalue()}CommandError: {exc}"
    return 0, out.getvalue()


@contextlib.contextmanager
def elsewhere() -> Iterator[Path]:
    """Change into an empty folder on the import path."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sys.path[:0] = [name, str(ROOT / "tests" / "documentation" / "imaginary")]
        os.chdir(folder)
        yield folder
        os.chdir(ROOT)


def try_page(name: str) -> list[tuple[int, str]]:
    """Return the failures of a page, which runs in a fork of this process."""
    reading, writing = os.pipe()
    if not os.fork():
        signal.alarm(SECONDS)
        try:
            with elsewhere() as folder, contextlib.redirect_stdout(sys.stderr):
                trial = Trial(ROOT / name, folder)
                trial.run()
            os.write(writing, json.dumps(trial.failures).encode())
        except BaseException:  # noqa: BLE001
            os.write(writing, json.dumps([(0, traceback.format_exc())]).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading) as answer:
        text = answer.read()
    os.wait()
    failures: list[tuple[int, str]] = json.loads(text or f'[[0, "not done in {SECONDS} s"]]')
    return failures


def main() -> None:
    django.setup()
    from django.core.management import call_command

    call_command("migrate", run_syncdb=True, verbosity=0)
    call_command("seed", verbosity=0)
    for name in sys.stdin:
        sys.stdout.write(json.dumps(try_page(name.strip())) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    os.environ.setdefault("COLUMNS", "140")
    main()
