from __future__ import annotations

import ast
import difflib
import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import packages_distributions
from importlib.util import find_spec, resolve_name
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.urls import clear_url_caches, include, path

from drf_mcp.checks.middleware import find_call_middleware
from drf_mcp.checks.project import Project
from drf_mcp.management.base import MCPCommand
from drf_mcp.management.screen import UsageError
from drf_mcp.management.source_edits import SourceText
from drf_mcp.routes.endpoint import find_endpoints
from drf_mcp.routes.registry import registry

APP, INCLUDE = '"drf_mcp"', 'path("", include("drf_mcp.urls"))'
# Folders of packages that pip installs.
INSTALLED = frozenset({"site-packages", "dist-packages"})
# Characters of a line, as most formatters have it.
WIDTH = 88
OTHER = (
    "The package drf_mcp in this environment is of another project, drf-mcp. Run pip uninstall "
    "drf-mcp, then pip install --force-reinstall drf-mcp-server."
)


class Command(MCPCommand):
    """Changes the files of a project, or prints what to add where it does not know how."""

    help = "Add this package to the project: INSTALLED_APPS, the URLs, and an mcp.py for each app."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--dry-run",
            dest="is_dry",
            action="store_true",
            help="show the changes, and change nothing",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if "drf-mcp" in packages_distributions().get("drf_mcp", ()):
            raise UsageError(OTHER)
        self.is_dry = options["is_dry"]
        self.left: list[str] = []
        self.root = Path(sys.argv[0]).resolve().parent
        self._add_app()
        self._add_urls()
        for folder, views in self._find_apps():
            self._write_registrations(folder, views)
        self._add_call_middleware()
        for lines in self.left:
            self.stdout.write(lines, self.style.WARNING)
        if not self.is_dry:
            self.stdout.write("Next: python manage.py migrate, then python manage.py mcp_tools")

    def _add_app(self) -> None:
        for module in _follow_stars(os.environ["DJANGO_SETTINGS_MODULE"]):
            source = SourceText(module.read_text())
            if source.has_text(APP, "'drf_mcp'"):
                return
            is_list = isinstance(settings.INSTALLED_APPS, list)
            if (text := source.with_item("INSTALLED_APPS", APP, extends=is_list)) is not None:
                self._write(module, text)
                return
        self._tell(os.environ["DJANGO_SETTINGS_MODULE"], f"INSTALLED_APPS += [{APP}]")

    def _add_urls(self) -> None:
        module = _find_file(settings.ROOT_URLCONF)
        source = SourceText(module.read_text()) if module else None
        if source is not None and source.has_text('"drf_mcp.urls"', "'drf_mcp.urls'"):
            return
        text = None if source is None else source.with_item("urlpatterns", INCLUDE, extends=True)
        if module is None or text is None:
            self._tell(settings.ROOT_URLCONF, f"urlpatterns += [{INCLUDE}]")
        else:
            self._write(module, SourceText(text).with_names("django.urls", {"include", "path"}))
        # This process has read the file before.
        urlconf: Any = import_module(settings.ROOT_URLCONF)
        urlconf.urlpatterns = [*urlconf.urlpatterns, path("", include("drf_mcp.urls"))]
        clear_url_caches()

    def _find_apps(self) -> Iterator[tuple[Path, list[str]]]:
        """Yield the apps of the project that have views and no ``mcp.py``."""
        views: dict[Path, dict[str, None]] = {}
        for endpoint in find_endpoints(settings.ROOT_URLCONF):
            module, name = endpoint.view_class.__module__, endpoint.view_class.__name__
            config = apps.get_containing_app_config(module)
            is_named = hasattr(sys.modules.get(module), name)
            if config and is_named and self._is_own(Path(config.path)):
                views.setdefault(Path(config.path), {})[f"{module} {name}"] = None
        for folder, names in views.items():
            if not (folder / "mcp.py").exists():
                yield folder, [*names]

    def _is_own(self, folder: Path) -> bool:
        # A virtual environment is often in the project's folder.
        parts = folder.resolve().parts
        return self.root in folder.resolve().parents and not INSTALLED.intersection(parts)

    def _write_registrations(self, folder: Path, views: list[str]) -> None:
        modules: dict[str, list[str]] = {}
        for view in sorted(views):
            module, name = view.split()
            modules.setdefault(module, []).append(name)
        imports = [_write_import(module, names) for module, names in modules.items()]
        calls = [f"registry.register({name})" for names in modules.values() for name in names]
        lines = [
            "# Take out what agents should not be offered.",
            "from drf_mcp import registry",
            "",
        ]
        self._write(folder / "mcp.py", "\n".join([*lines, *imports, "", *calls, ""]))
        # The next step reads the tools, as this file makes them.
        for module, names in modules.items():
            registry.register(*(getattr(sys.modules[module], name) for name in names))

    def _add_call_middleware(self) -> None:
        names = [name for name, _warning in find_call_middleware(Project())]
        if not names:
            return
        listed = ", ".join(f'"{name}"' for name in names)
        module = _find_file(os.environ["DJANGO_SETTINGS_MODULE"])
        line = f'DRF_MCP = {{"CALL_MIDDLEWARE": [{listed}]}}'
        if module is None or hasattr(settings, "DRF_MCP"):
            self._tell(os.environ["DJANGO_SETTINGS_MODULE"], line)
        else:
            self._write(module, f"{module.read_text().rstrip()}\n\n{line}\n")

    def _tell(self, place: str, line: str) -> None:
        self.left.append(f"{place}: add this line yourself:\n  {line}")

    def _write(self, file: Path, text: str) -> None:
        shown = os.path.relpath(file, self.root)
        before = file.read_text() if file.exists() else ""
        if self.is_dry:
            lines = before.splitlines(), text.splitlines()
            self.stdout.write("\n".join(difflib.unified_diff(*lines, shown, shown, lineterm="")))
        else:
            file.write_text(text)
            self.stdout.write(f"{shown}: {'changed' if before else 'written'}", self.style.SUCCESS)


def _write_import(module: str, names: list[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= WIDTH:
        return line
    return f"from {module} import (\n" + "".join(f"    {name},\n" for name in names) + ")"


def _find_file(module: str) -> Path | None:
    spec = find_spec(module)
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None


def _follow_stars(module: str) -> Iterator[Path]:
    """Yield the file of a module, then of the modules whose names it imports by a star."""
    if (file := _find_file(module)) is None:
        return
    yield file
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            name = "." * node.level + (node.module or "")
            package = module if file.name == "__init__.py" else module.rpartition(".")[0]
            yield from _follow_stars(resolve_name(name, package))
