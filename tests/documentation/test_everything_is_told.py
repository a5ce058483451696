"""The documentation speaks of everything that there is, and of nothing else."""

from __future__ import annotations

import pkgutil
import re
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import global_settings
from django.core.management import load_command_class
from oauth2_provider.settings import DEFAULTS as TOOLKIT_DEFAULTS
from rest_framework.settings import DEFAULTS as REST_FRAMEWORK_DEFAULTS

from docs.reference_pages.envelope_fields import DESCRIBED, rows
from docs.reference_pages.error_codes import SOFT_MEANINGS, WARNING_MEANINGS, WHEN
from drf_mcp import __version__
from drf_mcp.archive.retrieval import WITHHELD
from drf_mcp.codes import CODES, WARNING_SEVERITIES
from drf_mcp.contrib.writes.idempotency_guard import RIGHTS_CHANGED
from drf_mcp.dispatch.content import NOT_DECODED
from drf_mcp.dispatch.next_steps import EMPTY
from drf_mcp.dispatch.response import PAGE_SIZE_LIMITED
from drf_mcp.envelopes import OkEnvelope, ResponseV2Envelope, StatusEnvelope
from drf_mcp.management import commands
from drf_mcp.option_types.installed import features
from drf_mcp.settings import mcp_settings
from drf_mcp.tools import registry
from drf_mcp.tools.arguments.fields import UNKNOWN_FIELD
from drf_mcp.tools.options import ToolOptions
from drf_mcp.truncation.report import FULL, UNAVAILABLE
from tests.documentation.pages import DOCS, FENCE, ROOT, find_faults, pages

# Those pages tell of the settings and commands of other packages.
PAGES = [page for page in pages() if not page.name.startswith("migrating")]
TEXT = "\n".join(page.read_text() for page in PAGES)
# The app of each command.
COMMANDS = {
    **{module.name: "drf_mcp" for module in pkgutil.iter_modules(commands.__path__)},
    **{
        path.stem: ".".join(path.relative_to(ROOT).parts[:3])
        for path in (ROOT / "drf_mcp" / "contrib").glob("*/management/commands/mcp_*.py")
    },
}
PROJECT = (ROOT / "pyproject.toml").read_text()
README = (ROOT / "README.md").read_text()
EXTRAS = re.findall(
    r"^(\w+) = \[", PROJECT.split("[project.optional-dependencies]")[1].split("\n[")[0], re.M
)

# Names in capitals that are no settings of Django, REST framework or this package.
NO_SETTINGS = {
    *("PATCH", "POST", "DELETE", "FETCH", "SERVER"),
    # The settings that hold them, a key of DATABASES, an attribute of user models, and what
    # commands take.
    *("DRF_MCP", "REST_FRAMEWORK", "ATOMIC_REQUESTS", "USERNAME_FIELD", "NAME", "YOUR_TOKEN"),
    # A setting of Django since 6.0.
    "TASKS",
    # The key of a request's META, and a word in the command of tokens.
    *("REMOTE_ADDR", "TOKEN"),
    # The file of a skill.
    "SKILL",
    # The environment.
    *("MCP_TOKEN", "PORT", "PYTHONUNBUFFERED", "SCRIPT_NAME", "SOURCE_DATE_EPOCH"),
    # Of every project's settings module, though Django has no default of it.
    *("BASE_DIR", "ROOT_URLCONF"),
    # Of drf_mcp.contrib.oauth, of djangorestframework-simplejwt, of drf-spectacular, of the
    # example project.
    *("AGENTS", "ACCESS_TOKEN_LIFETIME", "COMPONENT_SPLIT_REQUEST", "SIMPLE_JWT"),
    *("LIBRARY_ANSWER_MODEL", "LIBRARY_ANSWER_MODEL_URL"),
    # Of JSON-RPC errors in an audit, and of a call that was stopped.
    *("UNKNOWN_TOOL", "INVALID_PARAMS", "HEADER_MISMATCH", "TIME_LIMIT_EXCEEDED"),
    # Codes of examples.
    *("CLOSED", "SPEC_NOT_FOUND"),
}


def test_every_setting_is_told_of_beside_the_reference():
    words = {
        word
        for page in PAGES
        if page != DOCS / "settings.md"
        for word in re.findall(r"\w+", page.read_text())
    }
    assert mcp_settings.table.keys() - words == set()


def test_no_setting_is_told_of_that_does_not_exist():
    """Names in capitals are settings, of whomever, or stand in a list of others."""
    settings_of_others = {*dir(global_settings), *REST_FRAMEWORK_DEFAULTS, *TOOLKIT_DEFAULTS}
    codes = {*CODES, *SOFT_MEANINGS, *WARNING_MEANINGS}
    known = {*mcp_settings.table, *settings_of_others, *codes, *NO_SETTINGS}

    def judge(page: Path) -> set[str]:
        prose = FENCE.sub("", page.read_text())
        return set(re.findall(r"`\"?([A-Z][A-Z_]{3,})\b", prose)) - known

    assert find_faults(judge, PAGES) == {}


def test_no_command_is_told_of_that_does_not_exist():
    told = set(re.findall(r"manage\.py (mcp_\w+)", TEXT))
    assert told <= set(COMMANDS)


def options_of(parser: ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action, _SubParsersAction):
            for part in action.choices.values():
                yield from options_of(part)


def test_no_option_is_used_that_does_not_exist():
    parsers = {
        name: load_command_class(app, name).create_parser("manage.py", name)
        for name, app in COMMANDS.items()
    }
    for line in re.findall(r"manage\.py (mcp_\w+[^\n`|>]*)", TEXT):
        name, *words = line.split()
        known = set(options_of(parsers[name]))
        assert {word.strip(".,;)") for word in words if re.match(r"--\w", word)} <= known, line


def test_every_standard_code_has_a_meaning():
    assert WHEN.keys() <= CODES.keys()
    assert {
        *WARNING_SEVERITIES,
        UNAVAILABLE.code,
        FULL.code,
        WITHHELD,
        RIGHTS_CHANGED,
        UNKNOWN_FIELD,
        PAGE_SIZE_LIMITED,
        NOT_DECODED,
        EMPTY,
        "WARNING",
    } == WARNING_MEANINGS.keys()


def test_every_code_is_told_of():
    assert [code for code in [*CODES, *WARNING_MEANINGS] if f"`{code}`" not in TEXT] == []


def test_every_option_of_a_tool_is_told_of():
    told = {name for names in re.findall(r"`(\w+)`|\b(\w+)=", TEXT) for name in names}
    options = {*ToolOptions.__dataclass_fields__, *features.tool_options}
    assert options - {"features"} - told == set()


def test_every_extra_is_told_of():
    shipped = [name for name in EXTRAS if name not in ("docs", "lint", "test")]
    assert [name for name in shipped if f"drf-mcp-server[{name}]" not in TEXT] == []


@pytest.mark.parametrize(
    "envelope", [ResponseV2Envelope, OkEnvelope, StatusEnvelope], ids=lambda each: each.__name__
)
def test_results_have_no_field_that_is_not_told_of(alice, settings, envelope):
    settings.DRF_MCP = {**settings.DRF_MCP, "ENVELOPE_CLASS": envelope}
    told = told_fields(envelope.__name__)
    for tool, arguments in (
        ("customers_list", {"page_size": 1}),
        ("customers_retrieve", {"pk": 999999}),
        ("orders_create", {"customer": 1, "lines": [{"product": "desk-lamp", "quantity": 500}]}),
    ):
        result = alice.call(tool, **arguments).envelope
        own = {} if result.get("success", result.get("ok")) is False else {"data": {}}
        assert [path for path in paths({**result, **own}) if path not in told] == [], tool


def told_fields(title: str) -> set[str]:
    by_title = {described.title: described for described in DESCRIBED}
    told = {row[0].strip("`") for row in rows(by_title[title])}
    if title == "ResponseV2Envelope":
        told |= {"data." + row[0].strip("`") for row in rows(by_title["Data of a failure"])}
    return told


# Below these everything is the view's own.
OPEN = ("telemetry", "next", "received", "context")


def paths(value, path=""):
    """Yield the paths of the members of a result, as far as an envelope decides."""
    for name, member in value.items():
        here = f"{path}{name}"
        yield here
        if here.endswith(OPEN):
            continue
        if isinstance(member, dict):
            yield from paths(member, f"{here}.")
        if isinstance(member, list):
            for item in filter(lambda item: isinstance(item, dict), member):
                yield from paths(item, f"{here}[].")


def test_the_names_in_the_table_of_names_are_tools_of_the_shop():
    section = (DOCS / "exposing.md").read_text().split("## Names")[1].split("## ")[0]
    named = re.findall(r"^\| `\w+ (\S+)`.* \| `(\w+)` \|", section, re.M)
    assert named
    for path, name in named:
        assert registry.tool(name).endpoint.route.path == path


def test_the_changelog_knows_the_version():
    text = (ROOT / "CHANGELOG.md").read_text()
    assert f"## [{__version__}]" in text or f"first release will be {__version__}." in text


def test_the_versions_of_django_are_those_of_the_classifiers():
    oldest, *_, newest = re.findall(r"Framework :: Django :: ([\d.]+)", PROJECT)
    assert f"Django {oldest} to {newest}" in README
    assert f"| Django | {oldest} to {newest} |" in TEXT


def test_readme_calls_tools_that_exist():
    named = re.findall(r"mcp_(?:tools (?:show|why)|call) (\w+)", README)
    assert named
    for name in named:
        registry.tool(name)


def test_keys_of_hosts_are_in_the_table_as_the_code_has_them():
    code = (ROOT / "drf_mcp" / "tools" / "hints.py").read_text()
    table = (ROOT / "docs" / "clients.md").read_text()
    keys = re.findall(r'"(anthropic/\w+)"  # (.+)', code)
    assert len(keys) == 3
    assert keys == re.findall(r"^\| `(anthropic/\w+)` .*\| ([^|]+) \|$", table, re.MULTILINE)
