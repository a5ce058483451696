"""The entries of resources/list and resources/templates/list."""

from __future__ import annotations

import pytest

from drf_mcp.contrib.resources import Document

GUIDE = Document("guides/returns", "# Returns\n", mime_type="text/markdown", title="Returns")


@pytest.fixture
def templates(agent_of):
    def templates(username: str | None = "alice", **options) -> dict[str, dict]:
        listed = agent_of(username, **options).result("resources/templates/list")
        return {each["name"]: each for each in listed["resourceTemplates"]}

    return templates


def names_of(agent, member: str = "resources") -> list[str]:
    method = "resources/templates/list" if member == "resourceTemplates" else "resources/list"
    return [each["name"] for each in agent.result(method)[member]]


@pytest.mark.slow
def test_a_retrieve_tool_is_a_template_with_its_title_and_description(templates, alice):
    tool, template = alice.tools()["orders_retrieve"], templates()["orders_retrieve"]
    assert template == {
        "uriTemplate": "shop://api/orders/{pk}",
        "name": "orders_retrieve",
        "title": tool["title"],
        "description": tool["description"],
        "mimeType": "application/json",
    }


def test_only_templates_that_the_caller_may_use_are_listed(templates, settings):
    settings.DRF_MCP = {
        **settings.DRF_MCP,
        "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    }
    assert "orders_retrieve" in templates("alice")
    assert "customers_retrieve" not in templates(None)


def test_a_view_that_opts_out_is_no_resource(serve):
    agent = serve()
    assert "names_retrieve" in agent.tools()
    assert "names_retrieve" not in names_of(agent, "resourceTemplates")
    assert agent.error("resources/read", uri="test://names/1")["message"] == "Resource not found"


def test_a_document_has_its_size_and_type(serve):
    listed = serve(GUIDE).result("resources/list")["resources"][0]
    assert listed == {
        "uri": "test://guides/returns",
        "name": "returns",
        "title": "Returns",
        "mimeType": "text/markdown",
        "size": 10,
    }


def test_a_chosen_list_is_a_template_of_its_filters(serve):
    listed = serve().result("resources/templates/list")["resourceTemplates"]
    assert "test://names{?tier}" in [each["uriTemplate"] for each in listed]


def test_the_option_resource_sets_members_of_a_template(serve):
    listed = serve().result("resources/templates/list")["resourceTemplates"]
    page = next(each for each in listed if each["uriTemplate"] == "test://pages/{name}")
    assert (page["title"], page["mimeType"]) == ("A page", "text/markdown")
    assert page["annotations"] == {"priority": 1}


def test_a_file_has_the_time_of_its_last_change(serve, tmp_path):
    file = tmp_path / "guide.md"
    file.write_text("Be kind.")
    [listed, *_] = serve(Document("guide", file=file)).result("resources/list")["resources"]
    assert listed["mimeType"] == "text/markdown"
    assert listed["annotations"]["lastModified"].endswith("Z")
    assert listed["size"] == 8
