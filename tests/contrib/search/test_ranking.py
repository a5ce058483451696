"""The order of the tools that a question finds: by meaning, and reads before writes."""

from __future__ import annotations

import pytest
from django.db import models

from drf_mcp.contrib.search.ranking import (
    READ,
    FieldRanking,
    describe_for_search,
    read_subject,
    read_vocabulary,
    split_words,
)
from drf_mcp.contrib.search.tool_index import ToolIndex
from drf_mcp.exposure import registry


def make_tool(name: str, description: str = "", **properties: str) -> dict:
    arguments = " ".join(f"{argument} {words}" for argument, words in properties.items())
    return {"names": name, "description": description, "arguments": arguments}


def make_ranking(*tools: dict) -> FieldRanking:
    return FieldRanking({tool["names"]: tool for tool in tools})


def find(question: str) -> list[str]:
    return ToolIndex.rank(registry, registry.tools()).find(question)


def test_arguments_are_searched_with_their_descriptions():
    tools = make_ranking(make_tool("a", hue="Shade of the paint."), make_tool("b", amps="Current."))
    assert tools.find("paint") == ["a"]
    assert tools.find("amps") == ["b"]


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
    assert read_vocabulary().read(question).asks.keys() == asked


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
    assert read_vocabulary().read(sentence).asks == asks


def test_a_weekday_means_a_date_and_a_date_means_no_weekday():
    assert "dat" in read_vocabulary().synonyms["saturda"]
    assert "saturda" not in read_vocabulary().synonyms["dat"]


# --- Lists of words -------------------------------------------------------------------------


def test_forms_of_a_word_have_one_stem():
    for forms in (
        *("order orders ordered ordering", "reserve reservation", "pay paid payment"),
        *("city cities", "address addresses", "class classes", "bill bills billing"),
        *("cancel cancelled cancellation", "archive archived archives", "employee employees"),
        *("approve approval approvals", "activate activation", "movie movies", "status statuses"),
    ):
        assert len(set(split_words(forms))) == 1, forms
