"""The exact output of each command."""

from __future__ import annotations

import json
import re

import pytest
from django.contrib.auth.models import Group, User

from drf_mcp.transports.client_configs import CLIENTS, ServerCommand
from tests.management.golden import assert_golden

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("shelves")]


def test_the_table(subtests, printed):
    for columns in [120, 80]:
        with subtests.test(columns=columns):
            assert_golden(f"tools-{columns}.txt", printed(columns=columns))


def test_the_table_in_colour(printed):
    assert_golden("tools-colour.txt", printed(columns=120, force_color=True))


def test_one_tool(subtests, printed):
    for columns in [100, 40]:
        with subtests.test(columns=columns):
            text = printed("show", "shelves_create", columns=columns)
            size = re.compile(r"size: \d+ bytes, about \d+ tokens")
            assert size.search(text)
            assert_golden(f"tool-{columns}.txt", size.sub("size: ...", text))


def test_guards_of_writes(subtests, printed):
    for columns in [80, 40]:
        with subtests.test(columns=columns):
            assert_golden(f"risks-{columns}.txt", printed("risks", columns=columns))


def test_definitions(printed):
    (definition,) = json.loads(printed("show", "shelves_list", "--json"))
    assert_golden("definition.json", json.dumps(definition, indent=2))


def test_who_may_call_a_tool(printed):
    Group.objects.create(name="novels")
    User.objects.create(username="dora")
    text = printed("why", "shelves_create", "--as", "dora", columns=80)
    assert_golden("why-80.txt", text)


def test_the_lock_file(printed, tmp_path):
    lock = tmp_path / "lock.json"
    printed("lock", str(lock))
    assert_golden("lock.json", lock.read_text())


def test_changes_of_a_lock_file(run, tmp_path):
    lock = tmp_path / "lock.json"
    run("mcp_tools", "lock", str(lock))
    surface = json.loads(lock.read_text())
    arguments = surface["tools"]["shelves_create"]["arguments"]
    arguments["colour"] = {"type": "string"}
    arguments["room"]["enum"].append("roof")
    del arguments["name"]
    surface["tools"]["shelves_burn"] = surface["tools"].pop("shelves_dust")
    lock.write_text(json.dumps(surface))
    code, text = run("mcp_tools", "check", str(lock))
    assert code == 1
    assert_golden("check.txt", text)


def test_a_call(run):
    code, text = run("mcp_call", "door", "name=hall", "room=attic")
    assert code == 0
    assert_golden("call.txt", without_telemetry(text))


def test_a_call_that_fails(run):
    code, text = run("mcp_call", "door", "room=roof")
    assert code == 1
    assert_golden("call-failed.txt", without_telemetry(text))


def without_telemetry(text: str) -> str:
    envelope = json.loads(text)
    envelope["meta"] = {"version": envelope["meta"]["version"]}
    return json.dumps(envelope, indent=2)


def test_the_equivalent_request(run):
    code, text = run("mcp_call", "door", "name=a b", "--http", "https://shop.example")
    assert code == 0
    assert_golden("call-http.txt", text)


def test_configurations():
    target = {"url": "https://shop.example/mcp", "authorization": "Token 0123"}
    assert_golden("configurations.txt", write_configs("my shop", **target))


def test_stdio_configurations():
    command = ServerCommand(
        ["/venv/bin/python", "/app/manage.py", "mcp_stdio"], {"MCP_TOKEN": "0123"}
    )
    assert_golden("stdio-configurations.txt", write_configs("shop", command=command))


def write_configs(server_name, **target) -> str:
    configs = [config_class(server_name, **target) for config_class in CLIENTS.values()]
    return "\n".join(f"{c.title} ({c.place}, {c.language})\n{c.text}\n" for c in configs)
