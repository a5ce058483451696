"""The order of the tools that a question finds: by meaning, and reads before writes."""

from __future__ import annotations

import time

import pytest
from django.db import models
from hypothesis import given
from hypothesis import strategies as st

from drf_mcp.contrib.search.ranking import (
    ACTIONS,
    FieldRanking,
    describe_for_search,
    read_subject,
)
from drf_mcp.contrib.search.tool_index import ToolIndex
from drf_mcp.contrib.search.words import READ, get_vocabulary, read_synonyms, split_words
from drf_mcp.tools import registry


def make_tool(name: str, description: str = "", **properties: str) -> dict:
    arguments = " ".join(f"{argument} {words}" for argument, words in properties.items())
    return {"names": name, "description": description, "arguments": arguments}


def make_ranking(*tools: dict) -> FieldRanking:
    return FieldRanking({tool["names"]: tool for tool in tools})


def find(question: str) -> list[str]:
    return ToolIndex.rank(registry, registry.tools()).find(question)


def test_a_rare_word_counts_more_than_a_common_one():
    tools = [make_tool(f"orders_{n}", "Orders.") for n in "abc"]
    found = make_ranking(*tools, make_tool("refund", "Give back.")).find("orders refund")
    assert found[0] == "refund"


def test_arguments_are_searched_with_their_descriptions():
    tools = make_ranking(make_tool("a", hue="Shade of the paint."), make_tool("b", amps="Current."))
    assert tools.find("paint") == ["a"]
    assert tools.find("amps") == ["b"]


def test_many_arguments_do_not_hide_a_name():
    filters = {f"filter_{n}": "Rows of devices in a rack at a site." for n in range(100)}
    tools = [
        make_tool("sites_list", "Find sites.", **filters),
        make_tool("racks_sync", "Compare.", note="Of the list of a site."),
        make_tool("racks_list", "Find racks.", **filters),
    ]
    assert make_ranking(*tools).find("sites")[0] == "sites_list"


def test_a_title_and_keywords_are_searched_with_the_name():
    described = describe_for_search(registry.tool("stats"))
    tool = registry.tool("stats")
    assert tool.options.keywords
    assert described["names"] == " ".join([tool.name, tool.title, *tool.options.keywords])


def test_texts_of_other_languages_are_found():
    tools = make_ranking(
        make_tool("a", "Заказы клиентов."),
        make_tool("b", "注文の一覧を取得する"),
        make_tool("c", "Größe"),
    )
    assert tools.find("заказы") == ["a"]
    assert tools.find("注文") == ["b"]
    assert tools.find("größe") == ["c"]


def test_a_ranking_without_tools_finds_none():
    assert make_ranking().find("order") == make_ranking().find_near("order") == []


@given(st.text(max_size=60))
def test_any_text_is_split_into_words_and_read(text):
    assert all(word == word.lower() and word for word in split_words(text))
    question = get_vocabulary().read(text)
    assert all(0 < weight <= 1 for near in question.words for weight in near.values())
    assert question.asks.keys() <= set(ACTIONS.values())


# --- Questions ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Which orders are late?", {READ}),
        ("Orders of last week", {READ}),
        ("Please add a customer", {"create"}),
        ("I want to change the address", {"partial_update"}),
        ("Throw this order away", {"destroy"}),
        ("The order is wrong, delete it", {"destroy"}),
        ("Give the customer a call", set()),
    ],
)
def test_the_verb_of_a_question_names_the_action(question, asked):
    assert get_vocabulary().read(question).asks.keys() == asked


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("Which customers are there?", "customers_list"),
        ("Add a client", "customers_create"),
        ("Change the email of a client", "customers_partial_update"),
        ("Delete a client", "customers_destroy"),
        ("Call off an order", "orders_cancel"),
        ("Give the money back for an order", "orders_refund"),
        ("Which complaints are urgent?", "tickets_list"),
        ("Reopen what was cancelled", "orders_reopen"),
    ],
)
def test_a_question_finds_the_best_tool_first(question, best):
    assert find(question)[0] == best


@pytest.mark.parametrize("noun", ["orders", "tickets", "products", "customers"])
def test_reads_come_before_writes_and_destructive_tools_last(noun):
    found = [name for name in find(noun) if name.startswith(f"{noun}_")]
    kinds = [2 if n.endswith("_destroy") else int(not registry.tool(n).reads) for n in found]
    assert kinds == sorted(kinds)


def test_a_mistyped_word_counts_as_the_word_with_a_similar_spelling():
    assert find("Refnd an order")[0] == "orders_refund"
    assert find("Which custommers are there?")[0] == "customers_list"


# --- The words of a tool --------------------------------------------------------------------


class Shelter(models.Model):  # noqa: DJ008
    class Meta:
        app_label = "search_tests"
        verbose_name = "kennel"


class Animal(models.Model):  # noqa: DJ008
    mood = models.CharField(
        max_length=1, choices=[("g", "Grumpy"), ("h", "Cheerful")], help_text="As seen at dawn."
    )
    home = models.ForeignKey(Shelter, models.CASCADE, verbose_name="whereabouts")

    class Meta:
        app_label = "search_tests"
        verbose_name = "critter"


def test_labels_help_texts_and_names_of_related_models_are_searched():
    subject = " ".join(read_subject(registry.tool("orders_list"), Animal))
    for text in ("critter", "Grumpy", "As seen at dawn.", "whereabouts", "kennels"):
        assert text in subject


def test_without_a_model_the_fields_of_the_output_are_searched():
    assert list(read_subject(registry.tool("content_retrieve"), None)) == []
    assert "subject" in list(read_subject(registry.tool("tickets_list"), None))


def test_a_standard_action_has_the_words_of_its_object_alone():
    described = describe_for_search(registry.tool("customers_orders_create"))
    assert described["names"].split()[:2] == ["customers", "orders"]
    assert set(described["object"].split()) == {"order", "orders"}
    assert described["own"] == ""
    assert described["as_question"] == "create"


def test_an_extra_action_has_the_words_of_its_name():
    described = describe_for_search(registry.tool("orders_refund"))
    assert described["own"].split()[0] == "refund"
    assert described["as_question"] == ""


# --- Statements --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "asks"),
    [
        ("She weighs 6 kilos", {"create": 0.5}),
        ("Our new neighbour is called Ines", {"partial_update": 0.5}),
        ("The address is wrong", {"partial_update": 0.5}),
        ("The unpaid fines of March", {}),
        ("unpaid fines", {READ: 0.5}),
    ],
)
def test_a_statement_asks_for_a_create_or_an_update(sentence, asks):
    assert get_vocabulary().read(sentence).asks == asks


def test_a_weekday_means_a_date_and_a_date_means_no_weekday():
    assert "dat" in get_vocabulary().synonyms["saturda"]
    assert "saturda" not in get_vocabulary().synonyms["dat"]


# --- Lists of words -------------------------------------------------------------------------


def test_each_group_of_synonyms_is_one_line_of_several_words():
    lines = read_synonyms()
    assert len(lines) == len(set(lines))
    assert all(len(set(line.split())) >= 2 for line in lines)


def test_forms_of_a_word_have_one_stem():
    for forms in (
        *("order orders ordered ordering", "reserve reservation", "pay paid payment"),
        *("city cities", "address addresses", "class classes", "bill bills billing"),
        *("cancel cancelled cancellation", "archive archived archives", "employee employees"),
        *("approve approval approvals", "activate activation", "movie movies", "status statuses"),
    ):
        assert len(set(split_words(forms))) == 1, forms


def test_a_search_over_1500_tools_takes_less_than_50_ms():
    nouns = [f"{a}{b}" for a in ("alpha", "beta", "gamma", "delta", "kappa") for b in "abcdefghij"]
    tools = [
        {
            **make_tool(f"{noun}{n}_list", "Find, show or count rows by date."),
            **{"object": f"{noun}{n}", "subject": "customer order date status " * 5},
            **{"as_question": READ, "action": "list", "reads": True, "destroys": False},
        }
        for noun in nouns
        for n in range(30)
    ]
    ranked = make_ranking(*tools)
    question = "Which ordres of our custommers are late tday, and who is to be cald about alphx12?"
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        ranked.find(question)
        seconds.append(time.perf_counter() - start)
    assert min(seconds) < 0.05
