"""``python -m benchmarks.listing PROJECT PATH``: the tools of a real project, all of them.

The project's own interpreter runs it, from this folder, with PATH a checkout of the project. No row
and no table is needed. ``--output`` keeps the list, ``--before`` compares it with a kept one.
"""

from __future__ import annotations

import argparse
import importlib.abc
import importlib.machinery
import io
import json
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock

import django
import django.conf

SETTINGS = "benchmarks_listing_settings"
SECRET = "a secret of the benchmark, which is long enough for all of them"
# Large libraries that only other parts of the projects need: a stand-in does for all of them.
STAND_INS = frozenset(
    re.findall(
        r"\w+",
        "azure boto3 botocore faiss gotenberg_client img2pdf joblib lancedb ldap llama_index nltk "
        "numpy ocrmypdf openai pdf2image scikit_learn sentence_transformers sklearn sqlite_vec "
        "tika tika_client torch vulners zxingcpp",
    )
)


@dataclass(frozen=True)
class Listed:
    """How a project is set up.

    Attributes:
        commit: the commit that README.md has figures of.
        settings: its settings module.
        folder: the folder below its checkout that has its packages.
        environment: the environment variables that its settings read.
    """

    commit: str
    settings: str
    folder: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)


PROJECTS = {
    "paperless-ngx": Listed(
        "b0e0e8a35", "paperless.settings", "src", {"PAPERLESS_SECRET_KEY": SECRET}
    ),
    "tandoor": Listed(
        "d206eddbd",
        "recipes.settings",
        environment={
            "SECRET_KEY": SECRET,
            "DB_ENGINE": "django.db.backends.sqlite3",
            "POSTGRES_DB": ":memory:",
            "ALLOWED_HOSTS": "*",
        },
    ),
    "defectdojo": Listed(
        "7cfa159a67",
        "dojo.settings.settings",
        environment={
            "DD_SECRET_KEY": SECRET,
            "DD_CREDENTIAL_AES_256_KEY": SECRET[:32],
            "DD_DATABASE_ENGINE": "django.db.backends.sqlite3",
            "DD_DATABASE_NAME": ":memory:",
        },
    ),
    # Its configuration.py names a PostgreSQL.
    "netbox": Listed("43fe81f9e", "netbox.settings", "netbox"),
    "example": Listed("", "example_project.settings"),
}


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports a stand-in for each library that is not needed."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name.partition(".")[0] in STAND_INS:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> Any:
        module = MagicMock(name=spec.name)
        module.__path__, module.__spec__, module.__name__ = [], spec, spec.name
        return module

    def exec_module(self, module: Any) -> None: ...


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.listing", description=__doc__)
    parser.add_argument("project", choices=PROJECTS)
    parser.add_argument("path", type=Path, help="a checkout of the project")
    parser.add_argument("--output", type=Path, help="a file for the list")
    parser.add_argument("--before", type=Path, help="the file of an earlier run")
    asked = parser.parse_args(arguments)
    before = json.loads(asked.before.read_text()) if asked.before else {}
    output = asked.output and asked.output.absolute()
    listed, seconds = list_tools(PROJECTS[asked.project], asked.path.absolute())
    write(f"{asked.project}: {len(listed)} tools, {seconds:.2f} CPU s")
    if output:
        output.write_text(json.dumps(listed, indent=1, sort_keys=True) + "\n")
    for line in compare(before, listed) if before else ():
        write(line)


def list_tools(project: Listed, path: Path) -> tuple[dict[str, Any], float]:
    """Return the definitions of all tools, by name, and the processor seconds that they took."""
    os.environ.update(project.environment)
    os.chdir(path / project.folder)
    sys.path.insert(0, os.getcwd())
    sys.meta_path.append(StandIns())
    settings = sys.modules[SETTINGS] = ModuleType(SETTINGS)
    # Some projects read settings while theirs are imported.
    os.environ["DJANGO_SETTINGS_MODULE"] = project.settings
    vars(settings).update(vars(import_module(project.settings)))
    os.environ["DJANGO_SETTINGS_MODULE"] = SETTINGS
    django.conf.settings._wrapped = django.conf.empty  # type: ignore[attr-defined]
    own = vars(settings)
    if "drf_mcp" not in own["INSTALLED_APPS"]:
        own["INSTALLED_APPS"] = [*own["INSTALLED_APPS"], "drf_mcp"]
        own["DRF_MCP"] = {"EXPOSE": "urlconf", "ARCHIVE_CLASS": None}
    own["LOGGING"] = {"version": 1, "disable_existing_loggers": True}
    from django.core.management import call_command

    django.setup()
    from drf_mcp.management.commands.mcp_tools import Command

    started, output = time.process_time(), io.StringIO()
    call_command(Command(), "list", json=True, skip_checks=True, stdout=output)
    seconds = time.process_time() - started
    return {tool["name"]: tool for tool in json.loads(output.getvalue())}, seconds


def compare(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each tool that came, went or changed."""
    for name in sorted(before.keys() | now.keys()):
        if name not in now:
            yield f"- {name}"
        elif name not in before:
            yield f"+ {name}"
        elif before[name] != now[name]:
            parts = before[name].keys() | now[name].keys()
            changed = (part for part in parts if before[name].get(part) != now[name].get(part))
            yield f"  {name}: {', '.join(sorted(changed))}"


def write(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
