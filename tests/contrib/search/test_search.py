"""A search finds the tools that the list would show, and no other tool."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drf_mcp.calls.summaries import Signature
from drf_mcp.contrib.search import tool_index
from drf_mcp.exposure import registry
from tests.agents import Agent
from tests.contrib.search.conftest import SearchAgent, get_name

USERS = ["alice", "bob", "carol"]


@pytest.fixture
def listed_for(agent_of, configured):
    """Return the tools that the list shows a user without tool search."""

    def listed_for(username: str) -> dict:
        configured(TOOL_SEARCH=False)
        tools = Agent(agent_of(username).http).tools()
        configured(TOOL_SEARCH=True)
        return tools

    return listed_for


@pytest.mark.slow
def test_a_search_for_all_names_finds_exactly_the_tools_of_the_list(
    agent_of, listed_for, configured
):
    for username, listed in {username: listed_for(username) for username in USERS}.items():
        agent = SearchAgent(agent_of(username).http)
        found, offset = {}, 0
        asked = {"query": " ".join(registry.tools()), "definitions": True}
        while page := agent.search(**asked, offset=offset)["tools"]:
            found |= {hit["name"]: hit for hit in page}
            offset += len(page)
        assert found.keys() == listed.keys()
        for name, hit in found.items():
            schema, hints = listed[name]["inputSchema"], listed[name]["annotations"]
            assert hit["description"] == listed[name]["description"]
            assert hit["inputSchema"] == schema
            assert set(hit["annotations"]) == {hint for hint, holds in hints.items() if holds}


@pytest.mark.slow
@given(words=st.lists(st.sampled_from(["order", "customer", "refund", "ticket", "list", "zebra"])))
def test_pages_of_a_search_hold_each_visible_tool_once(words, agent, listed_names):
    names = agent.find_all(" ".join(words)) if words else []
    assert len(names) == len(set(names))
    assert set(names) <= listed_names


@pytest.fixture
def listed_names(agent, listed_for) -> set[str]:
    return set(listed_for("alice"))


@pytest.mark.slow
def test_without_a_query_there_are_the_groups_of_all_tools(agent, listed_for):
    listed = listed_for("alice")
    answer = agent.search()
    assert answer["total"] == len(listed)
    assert answer["groups"]["orders"] == sum(n.startswith("orders_") for n in listed)
    assert sum(answer["groups"].values()) == len(listed.keys() - {"content_retrieve"})
    assert answer["next_offset"] is None


@pytest.mark.slow
def test_an_excluded_tool_is_not_found(agent_of, configured):
    configured(READ_ONLY=True)
    agent = SearchAgent(agent_of("alice").http)
    assert "orders_refund" not in agent.find_all("refund order orders_refund")
    assert all(registry.tool(name).reads for name in agent.search("orders_list")["siblings"])


def test_a_hit_has_a_signature_and_the_tool_that_runs_it(agent):
    best = agent.search("refund an order")["tools"][0]
    assert best == {
        "signature": (
            "orders_refund(id: int, reason: 'damaged' | 'late' | 'changed_mind' | 'other', "
            "amount: str = None, ...) -> {id, url, number, customer, status, status_label, ...}"
        ),
        "run_with": "tools_write",
        "description": "Give back the money of a paid or shipped order, or a part of it.",
        "destructive": True,
    }


def test_a_name_alone_finds_the_whole_signature_and_description(agent):
    (hit,) = agent.search("orders_list")["tools"]
    tool = registry.tool("orders_list")
    assert hit["signature"] == Signature(tool).write()
    assert hit["description"] == tool.description


def test_a_description_is_cut_after_its_first_sentence():
    assert tool_index.cut_sentence("Find orders (paid, sent). Newest first.") == "Find orders."
    assert tool_index.cut_sentence("Costs 1.50 a piece") == "Costs 1.50 a piece"
    assert tool_index.cut_sentence("") == ""


def test_a_search_with_definitions_has_schemas(agent):
    answer = agent.search("refund an order", definitions=True)["tools"]
    assert answer[0]["name"] == "orders_refund"
    assert answer[0]["run_with"] == "tools_write"
    assert answer[0]["annotations"] == {"destructiveHint": True}
    assert answer[0]["inputSchema"] == registry.tool("orders_refund").input_schema


def test_names_alone_find_those_tools_with_their_schemas(agent):
    answer = agent.search("orders_cancel, customers_list", definitions=True)
    assert [hit["name"] for hit in answer["tools"]] == ["orders_cancel", "customers_list"]
    assert all("inputSchema" in hit for hit in answer["tools"])
    assert answer["next_offset"] is None


def test_a_name_among_other_words_comes_first(agent):
    names = agent.find_all("refund an order orders_cancel")
    assert names[0] == "orders_cancel"
    assert "orders_refund" in names


@pytest.mark.parametrize(
    "query", ["zebra", "?!", "zzzzzz qqqqq", "Register Ada", "Throw away spam"]
)
def test_words_or_verbs_that_name_no_tool_are_answered_with_the_groups(agent, query):
    result = agent.call("tools_search", query=query)
    assert result.data == {"tools": [], "next_offset": None, "groups": agent.search()["groups"]}
    assert "search for one of `groups`" in str(result.envelope["meta"])


@pytest.mark.parametrize("query", ["orders", "Orders", "orders_*"])
def test_a_noun_or_a_pattern_gives_its_tools_reads_first_and_destructive_ones_last(agent, query):
    answer = agent.search(query)
    names = [get_name(hit) for hit in answer["tools"]]
    assert sorted(names) == sorted(n for n in registry.tools() if n.startswith("orders_"))
    assert answer.keys() == {"tools", "next_offset"}
    if "*" not in query:
        tools = [registry.tool(name) for name in names]
        kinds = [(not tool.reads, tool.annotations["destructiveHint"]) for tool in tools]
        assert kinds == sorted(kinds)


def test_an_answer_ends_with_the_other_tools_of_the_noun_of_the_first_hit(agent, listed_names):
    answer = agent.search("refund an order")
    names = {get_name(hit) for hit in answer["tools"]} | {*answer["siblings"]}
    assert names >= {name for name in listed_names if name.startswith("orders_")}
    assert not {get_name(hit) for hit in answer["tools"]} & {*answer["siblings"]}


def test_wrong_arguments_are_refused(subtests, agent):
    for arguments, pointer in [
        ({"offset": -1}, "/offset"),
        ({"offset": "x"}, "/offset"),
        ({"qery": "order"}, "/qery"),
        ({"query": "order", "definitions": "x"}, "/definitions"),
    ]:
        with subtests.test(arguments=arguments, pointer=pointer):
            (problem,) = agent.call("tools_search", **arguments).problems
            assert problem["pointer"] == pointer
