"""The documentation names everything that exists, and nothing else."""

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

# The other pages name settings and commands of other packages.
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
OTHER_NAMES = {
    *("PATCH", "POST", "DELETE", "FETCH", "SERVER"),
    # The names of settings, a key of DATABASES, an attribute of user models, and arguments of
    # commands.
    *("DRF_MCP", "REST_FRAMEWORK", "ATOMIC_REQUESTS", "USERNAME_FIELD", "NAME", "YOUR_TOKEN"),
    # A setting of Django since 6.0.
    "TASKS",
    # A key of a request's META, and a word of the command for tokens.
    *("REMOTE_ADDR", "TOKEN"),
    # The file of a skill.
    "SKILL",
    # Environment variables.
    *("MCP_TOKEN", "PORT", "PYTHONUNBUFFERED", "SCRIPT_NAME", "SOURCE_DATE_EPOCH"),
    # Set in every project's settings module, though Django has no default.
    *("BASE_DIR", "ROOT_URLCONF"),
    # Names of drf_mcp.contrib.oauth, djangorestframework-simplejwt, drf-spectacular and the example
    # project.
    *("AGENTS", "ACCESS_TOKEN_LIFETIME", "COMPONENT_SPLIT_REQUEST", "SIMPLE_JWT"),
    *("LIBRARY_ANSWER_MODEL", "LIBRARY_ANSWER_MODEL_URL"),
    # Codes of JSON-RPC errors in the audit, and of a call that was stopped.
    *("UNKNOWN_TOOL", "INVALID_PARAMS", "HEADER_MISMATCH", "TIME_LIMIT_EXCEEDED"),
    # Codes in examples.
    *("CLOSED", "SPEC_NOT_FOUND"),
}


def test_every_setting_is_documented_outside_the_reference():
    words = {
        word
        for page in PAGES
        if page != DOCS / "settings.md"
        for word in re.findall(r"\w+", page.read_text())
    }
    assert mcp_settings.table.keys() - words == set()


def test_no_unknown_setting_is_documented():
    """Names in capitals are settings of any package, or are in `OTHER_NAMES`."""
    settings_of_others = {*dir(global_settings), *REST_FRAMEWORK_DEFAULTS, *TOOLKIT_DEFAULTS}
    codes = {*CODES, *SOFT_MEANINGS, *WARNING_MEANINGS}
    known = {*mcp_settings.table, *settings_of_others, *codes, *OTHER_NAMES}

    def find_unknown_settings(page: Path) -> set[str]:
        prose = FENCE.sub("", page.read_text())
        return set(re.findall(r"`\"?([A-Z][A-Z_]{3,})\b", prose)) - known

    assert find_faults(find_unknown_settings, PAGES) == {}


def test_no_unknown_command_is_documented():
    documented = set(re.findall(r"manage\.py (mcp_\w+)", TEXT))
    assert documented <= set(COMMANDS)


def options_of(parser: ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action, _SubParsersAction):
            for part in action.choices.values():
                yield from options_of(part)


def test_no_unknown_option_is_used():
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
        RIGHTS_CHANGED,
        UNKNOWN_FIELD,
        PAGE_SIZE_LIMITED,
        NOT_DECODED,
        EMPTY,
        "WARNING",
    } == WARNING_MEANINGS.keys()


def test_every_code_is_documented():
    assert [code for code in [*CODES, *WARNING_MEANINGS] if f"`{code}`" not in TEXT] == []


def test_every_tool_option_is_documented():
    documented = {name for names in re.findall(r"`(\w+)`|\b(\w+)=", TEXT) for name in names}
    options = {*ToolOptions.__dataclass_fields__, *features.tool_options}
    assert options - {"features"} - documented == set()


def test_every_extra_is_documented():
    shipped = [name for name in EXTRAS if name not in ("docs", "lint", "test")]
    assert [name for name in shipped if f"drf-mcp-server[{name}]" not in TEXT] == []


@pytest.mark.parametrize(
    "envelope", [ResponseV2Envelope, OkEnvelope, StatusEnvelope], ids=lambda each: each.__name__
)
def test_every_member_of_a_result_is_documented(alice, settings, envelope):
    settings.DRF_MCP = {**settings.DRF_MCP, "ENVELOPE_CLASS": envelope}
    documented = documented_fields(envelope.__name__)
    for tool, arguments in (
        ("customers_list", {"page_size": 1}),
        ("customers_retrieve", {"pk": 999999}),
        ("orders_create", {"customer": 1, "lines": [{"product": "desk-lamp", "quantity": 500}]}),
    ):
        result = alice.call(tool, **arguments).envelope
        own = {} if result.get("success", result.get("ok")) is False else {"data": {}}
        assert [path for path in paths({**result, **own}) if path not in documented] == [], tool


def documented_fields(title: str) -> set[str]:
    by_title = {described.title: described for described in DESCRIBED}
    documented = {row[0].strip("`") for row in rows(by_title[title])}
    if title == "ResponseV2Envelope":
        documented |= {"data." + row[0].strip("`") for row in rows(by_title["Data of a failure"])}
    return documented


# The view decides about the members below these.
OPEN = ("telemetry", "next", "received", "context")


def paths(value, path=""):
    """Yield the paths of a result's members, as far as the envelope decides about them."""
    for name, member in value.items():
        member_path = f"{path}{name}"
        yield member_path
        if member_path.endswith(OPEN):
            continue
        if isinstance(member, dict):
            yield from paths(member, f"{member_path}.")
        if isinstance(member, list):
            for item in filter(lambda item: isinstance(item, dict), member):
                yield from paths(item, f"{member_path}[].")


def test_the_names_in_the_table_of_names_are_tools_of_the_shop():
    section = (DOCS / "exposing.md").read_text().split("## Names")[1].split("## ")[0]
    named = re.findall(r"^\| `\w+ (\S+)`.* \| `(\w+)` \|", section, re.M)
    assert named
    for path, name in named:
        assert registry.tool(name).endpoint.route.path == path


def test_the_changelog_has_the_version():
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


def test_the_table_of_host_keys_equals_the_code():
    code = (ROOT / "drf_mcp" / "tools" / "hints.py").read_text()
    table = (ROOT / "docs" / "clients.md").read_text()
    keys = re.findall(r'"(anthropic/\w+)"  # (.+)', code)
    assert len(keys) == 3
    assert keys == re.findall(r"^\| `(anthropic/\w+)` .*\| ([^|]+) \|$", table, re.MULTILINE)
