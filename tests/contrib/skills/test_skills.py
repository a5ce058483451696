"""Skills: folders of instructions, listed with digests and read as resources."""

from __future__ import annotations

import base64
import hashlib
import json

import pytest
from django.core.exceptions import ImproperlyConfigured

from drf_mcp.contrib.skills import Skill
from tests.agents import REVISIONS

EXTENSION = "io.modelcontextprotocol/skills"
MAIN = """---
name: refunds
description: Refund an order by the rules.
license: Apache-2.0
metadata:
  version: "2.1"
---

# Refunds

Follow references/rules.md.
"""


@pytest.fixture(autouse=True)
def without_official_types(watch):
    """Forget the messages, because the official types of the protocol have no skills."""
    yield
    watch.messages.clear()


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "refunds"
    (folder / "references").mkdir(parents=True)
    (folder / "SKILL.md").write_text(MAIN)
    (folder / "references" / "rules.md").write_bytes("Within 30 days, für alle.\r\n".encode())
    (folder / "logo.bin").write_bytes(b"\x89\xff\x00")
    return folder


def send(agent, method: str, **params):
    message, headers = agent.frame(method, params)
    return json.loads(agent.post(message, headers).content)


def read(agent, uri: str) -> bytes:
    [contents] = agent.result("resources/read", uri=uri)["contents"]
    return contents["text"].encode() if "text" in contents else base64.b64decode(contents["blob"])


# --- Methods and capabilities -------------------------------------------------------------------


def test_without_skills_there_are_no_methods(serve):
    assert send(serve(), "skills/list")["error"]["code"] == -32601


def test_skills_are_declared_as_an_extension(serve, folder):
    declared = serve(Skill(folder)).result("server/discover")["capabilities"]
    assert declared["extensions"][EXTENSION] == {}
    assert declared["resources"] == {}


def test_earlier_revisions_only_read_the_files(serve, folder):
    for revision in REVISIONS[1:]:
        agent = serve(Skill(folder), revision=revision)
        assert send(agent, "skills/list")["error"]["code"] == -32601
        assert read(agent, "skill://refunds/SKILL.md") == MAIN.encode()


# --- Entries ------------------------------------------------------------------------------------


def test_an_entry_has_its_frontmatter_and_every_file(serve, folder):
    [entry] = send(serve(Skill(folder)), "skills/list")["result"]["skills"]
    assert entry["uri"] == "skill://refunds/SKILL.md"
    assert entry["frontmatter"] == {
        "name": "refunds",
        "description": "Refund an order by the rules.",
        "license": "Apache-2.0",
        "metadata": {"version": "2.1"},
    }
    assert [each["uri"] for each in entry["resources"]] == [
        "skill://refunds/SKILL.md",
        "skill://refunds/logo.bin",
        "skill://refunds/references/rules.md",
    ]


def test_a_file_has_the_size_and_the_digest_of_its_entry(serve, folder):
    agent = serve(Skill(folder))
    [entry] = send(agent, "skills/list")["result"]["skills"]
    for each in entry["resources"]:
        content = read(agent, each["uri"])
        assert len(content) == each["size"]
        assert each["digest"] == f"sha256:{hashlib.sha256(content).hexdigest()}"


def test_skills_of_an_open_endpoint_are_public(serve, folder, settings):
    agent = serve(Skill(folder))
    open_to_all = {"PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"]}
    settings.DRF_MCP = {**settings.DRF_MCP, **open_to_all}
    uri = "skill://refunds/SKILL.md"
    for method, params in (("skills/list", {}), ("skills/get", {"uri": uri})):
        assert send(agent, method, **params)["result"]["cacheScope"] == "public"


def test_an_unknown_skill_is_refused(serve, folder):
    agent = serve(Skill(folder))
    for uri in ("skill://refunds", "skill://other/SKILL.md", ""):
        error = send(agent, "skills/get", uri=uri)["error"]
        assert (error["code"], error["message"]) == (-32602, f"No skill is served at {uri}")


def test_hidden_files_and_files_outside_the_skill_are_not_read(serve, folder):
    (folder / ".secret").write_text("a")
    (folder.parent / "outside").write_text("b")
    (folder / "leak").symlink_to(folder.parent / "outside")
    agent = serve(Skill(folder))
    for name in ("../../etc/passwd", ".secret", "leak", "references", "missing.md"):
        refused = agent.error("resources/read", uri=f"skill://refunds/{name}")
        assert refused["message"] == "Resource not found", name
    [entry] = send(agent, "skills/list")["result"]["skills"]
    assert len(entry["resources"]) == 3


def test_skills_come_in_pages(serve, tmp_path):
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "SKILL.md").write_text(MAIN.replace("refunds", name))
    agent = serve(*Skill.find(tmp_path), TOOLS_PAGE_SIZE=2)
    first = send(agent, "skills/list")["result"]
    last = send(agent, "skills/list", cursor=first["nextCursor"])["result"]
    names = [each["frontmatter"]["name"] for each in (*first["skills"], *last["skills"])]
    assert names == ["a", "b", "c"]
    assert "nextCursor" not in last


# --- Wrong folders ------------------------------------------------------------------------------


def test_wrong_frontmatter_is_refused_at_once(folder):
    for main, reason in (
        ("# Refunds", "name of its folder"),
        ("---\nname: other\ndescription: a\n---\n", "name of its folder"),
        ("---\nname: [\n---\n", "name of its folder"),
        ("---\nname: refunds\n---\n", "needs a description"),
        (f"---\nname: refunds\ndescription: {'a' * 1025}\n---\n", "at most 1024"),
    ):
        (folder / "SKILL.md").write_text(main)
        with pytest.raises(ImproperlyConfigured, match=reason):
            Skill(folder)
