"""`mcp_warm` writes descriptions to a file; if the file cannot be trusted, tools are described."""

from __future__ import annotations

import io
import json
import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.core.management.base import CommandError

from drf_mcp import checks
from drf_mcp.introspection import Describer
from drf_mcp.test import MCPClient
from drf_mcp.tools import registry
from drf_mcp.tools.kept_descriptions import (
    DescriptionsFile,
    UnusableFile,
    find_loaded_files,
    hash_setting,
    kept_descriptions,
)

pytestmark = pytest.mark.django_db
DESCRIBE = Describer.describe


@pytest.fixture
def described(monkeypatch) -> list[str]:
    """The places of the endpoints that are described during the test."""
    places: list[str] = []

    def describe(describer):
        places.append(describer.inspection.place)
        return DESCRIBE(describer)

    monkeypatch.setattr(Describer, "describe", describe)
    return places


@pytest.fixture
def project(settings, tmp_path, described, monkeypatch):
    """A project with a file of descriptions; ``start()`` acts as a process that just started."""
    path = tmp_path / "descriptions.json"
    # Hashing all modules of a test run would take most of the time.
    loaded = {path for path in find_loaded_files() if "kept_urls" in path or "serializers" in path}
    monkeypatch.setattr("drf_mcp.tools.kept_descriptions.find_loaded_files", lambda: loaded)
    settings.ROOT_URLCONF = "tests.tools.kept_urls"

    def configure(**options) -> None:
        settings.DRF_MCP = {
            "EXPOSE": "urlconf",
            "ARCHIVE_CLASS": None,
            "DESCRIPTIONS_FILE": path,
            **options,
        }

    def start() -> None:
        registry.reload()
        kept_descriptions._read_again()
        described.clear()

    def warm(*arguments: str) -> str:
        err = io.StringIO()
        call_command("mcp_warm", *arguments, stdout=io.StringIO(), stderr=err)
        start()
        return err.getvalue()

    client = MCPClient()
    client.force_authenticate(User.objects.create(username="ada", is_superuser=True))

    configure()
    start()
    yield SimpleNamespace(
        path=path,
        configure=configure,
        start=start,
        warm=warm,
        client=client,
        list_tools=client.list_tools,
    )
    kept_descriptions._read_again()


def test_with_the_file_the_list_is_the_same_and_no_tool_is_described(project, described):
    before = project.list_tools()
    assert "GroupViewSet.list" in " ".join(described)
    project.warm()
    assert project.list_tools() == before
    assert not [place for place in described if "GroupViewSet" in place]


def test_a_tool_in_the_file_is_described_when_it_is_called(project, described):
    project.warm()
    result = project.client.call_tool("groups_create", {"name": "editors"})
    assert result.data["name"] == "editors"
    assert any("GroupViewSet.create" in place for place in described)


def test_checks_find_the_same_with_the_file(project, described):
    before = checks.run(None)
    project.warm()
    assert checks.run(None) == before


def test_a_description_that_reads_rows_is_not_in_the_file(project, described):
    Group.objects.create(name="first")
    assert "choices_create" in project.warm()
    Group.objects.create(name="second")
    schema = project.list_tools()["choices_create"]["inputSchema"]
    assert schema["properties"]["name"]["enum"] == ["first", "second"]


@pytest.mark.parametrize(
    "change",
    [
        {"OUTPUT_SCHEMA": "full"},
        {"PORTABLE": False},
        {"ENVELOPE_CLASS": "drf_mcp.envelopes.OkEnvelope"},
        {"FIELDS_ARGUMENT": False},
    ],
    ids=str,
)
def test_tools_are_described_after_a_setting_of_the_package_changed(project, described, change):
    project.warm()
    project.configure(**change)
    project.start()
    project.list_tools()
    assert any("GroupViewSet" in place for place in described)


def test_tools_are_described_after_a_setting_of_the_project_changed(project, described, settings):
    project.warm()
    settings.USE_TZ = not settings.USE_TZ
    project.start()
    project.list_tools()
    assert described


def test_tools_of_a_toolset_are_described_apart(project, described):
    project.configure(TOOLSETS={"few": ["groups_*"]})
    project.warm()
    every = project.list_tools()
    described.clear()
    project.client.defaults["HTTP_MCP_TOOLSETS"] = "few"
    few = project.list_tools()
    assert few.keys() < every.keys()
    assert any("GroupViewSet" in place for place in described)


def test_tools_are_described_after_reload(project, described):
    project.warm()
    project.list_tools()
    registry.reload()
    described.clear()
    project.list_tools()
    assert any("GroupViewSet" in place for place in described)


def spoil_signature(path: Path) -> None:
    signature, content = path.read_bytes().split(b"\n", 1)
    path.write_bytes(signature[::-1] + b"\n" + content)


def spoil_text(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"groups_create", b"groups_cre4te"))


def sign_another_shape(path: Path) -> None:
    content = b'{"made_of": ["of", "another", "version"]}'
    path.write_bytes(DescriptionsFile(path)._sign(content) + b"\n" + content)


def sign_other_texts(path: Path) -> None:
    known = json.loads(path.read_bytes().split(b"\n", 1)[1])
    content = json.dumps({**known, "texts": [1, None]}).encode()
    path.write_bytes(DescriptionsFile(path)._sign(content) + b"\n" + content)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def replace_by_a_list(path: Path) -> None:
    path.write_text("[]\n[]")


def remove(path: Path) -> None:
    path.unlink()


def open_to_its_group(path: Path) -> None:
    path.chmod(0o640)


def give_away(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root gives files away")
    os.chown(path, 12345, -1)


def replace_by_a_link(path: Path) -> None:
    path.rename(path.with_suffix(".real"))
    path.symlink_to(path.with_suffix(".real"))


def replace_by_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir(mode=0o700)


UNTRUSTED = [
    spoil_signature,
    spoil_text,
    sign_another_shape,
    sign_other_texts,
    cut,
    empty,
    replace_by_a_list,
    remove,
    open_to_its_group,
    give_away,
    replace_by_a_link,
    replace_by_a_folder,
]


@pytest.mark.parametrize("change", UNTRUSTED, ids=lambda change: change.__name__)
def test_an_untrusted_file_is_not_used(project, described, change):
    before = project.list_tools()
    project.warm()
    change(project.path)
    assert project.list_tools() == before
    assert any("GroupViewSet" in place for place in described)
    with pytest.raises(CommandError, match="Each process describes the tools"):
        project.warm("--check")


def test_a_file_signed_with_another_secret_key_is_not_used(project, settings):
    project.warm()
    settings.SECRET_KEY = f"{settings.SECRET_KEY} another"
    with pytest.raises(UnusableFile, match="SECRET_KEY"):
        DescriptionsFile(project.path).read()


@pytest.fixture
def source(tmp_path, settings, monkeypatch) -> Path:
    """A file of the project's code that is older than this process."""
    folder = tmp_path / "code"
    folder.mkdir()
    settings.LOCALE_PATHS = [folder]
    path = folder / "patterns.py"
    path.write_text("COUNT = 1")
    monkeypatch.setattr(apps.get_app_config("drf_mcp"), "started", time.time() + 60)
    return path


def test_a_file_of_changed_code_is_not_used(project, source):
    project.warm()
    assert DescriptionsFile(project.path).read()
    source.write_text("COUNT = 2")
    with pytest.raises(UnusableFile, match=r"other code.*patterns\.py"):
        DescriptionsFile(project.path).read()


def test_a_file_is_not_used_after_code_was_added_or_removed(project, source):
    project.warm()
    added = source.with_name("added.py")
    added.write_text("")
    with pytest.raises(UnusableFile, match=r"added\.py"):
        DescriptionsFile(project.path).read()
    added.unlink()
    assert DescriptionsFile(project.path).read()
    source.unlink()
    with pytest.raises(UnusableFile, match=r"patterns\.py"):
        DescriptionsFile(project.path).read()


def test_a_process_older_than_its_code_uses_and_writes_no_file(project, source, monkeypatch):
    project.warm()
    monkeypatch.setattr(apps.get_app_config("drf_mcp"), "started", time.time() - 60)
    with pytest.raises(UnusableFile, match=r"patterns\.py"):
        DescriptionsFile(project.path).read()
    with pytest.raises(CommandError, match="has changed since"):
        project.warm()


def test_the_file_is_readable_only_by_its_owner(project):
    project.path.write_text("of an earlier run")
    project.path.chmod(0o666)
    project.warm()
    assert project.path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in project.path.parent.iterdir()] == ["descriptions.json"]


def test_the_file_contains_no_value_of_a_setting(project, settings):
    project.warm()
    text = project.path.read_text()
    assert settings.SECRET_KEY not in text
    assert settings.ROOT_URLCONF not in json.loads(text.split("\n", 1)[1])["made_of"].values()


def test_the_code_of_a_process_is_its_loaded_modules():
    files = find_loaded_files()
    assert {__file__, io.__file__, DescriptionsFile.read.__code__.co_filename} <= files


def test_mcp_warm_check_says_that_the_file_is_used(project, capsys):
    project.warm()
    call_command("mcp_warm", "--check")
    assert "is used. It holds" in capsys.readouterr().out


def test_mcp_warm_exits_with_2_if_it_cannot_write(project):
    project.configure(DESCRIPTIONS_FILE=project.path.parent / "missing" / "file.json")
    with pytest.raises(CommandError) as refused:
        project.warm()
    assert refused.value.returncode == 2


VALUES = [
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ([1], (1,)),
    (1, True),
    ("1", 1),
    (Path("a"), "a"),
    (len, max),
    (b"a", "a"),
]


@pytest.mark.parametrize(("one", "other"), VALUES, ids=str)
def test_different_values_of_a_setting_have_different_hashes(settings, one, other):
    settings.ODD = one
    before = hash_setting("ODD")
    settings.ODD = other
    assert hash_setting("ODD") != before


def test_an_object_without_a_value_is_hashed_by_its_class(settings):
    settings.ODD = {"values": [object(), lambda: 1]}
    before = hash_setting("ODD")
    settings.ODD = {"values": [object(), settings.ODD["values"][1]]}
    assert hash_setting("ODD") == before


def test_the_hash_of_a_setting_depends_on_the_secret_key(settings):
    before = hash_setting("LANGUAGE_CODE")
    settings.SECRET_KEY = "another"
    assert hash_setting("LANGUAGE_CODE") != before
