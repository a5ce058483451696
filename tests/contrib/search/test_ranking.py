"""The order of the tools that a question finds: by meaning, and reads before writes."""

from __future__ import annotations

import pytest
from django.db import models

from drf_mcp.contrib.search.ranking import FieldRanking, describe_for_search, read_subject
from drf_mcp.contrib.search.tool_index import ToolIndex
from drf_mcp.contrib.search.vocabulary import READ, read_vocabulary, split_words
from drf_mcp.exposure import registry


def make_tool(name: str, description: str = "", **properties: str) -> dict:
    arguments = " ".join(f"{argument} {words}" for argument, words in properties.items())
    return {"names": name, "description": description, "arguments": arguments}


def make_ranking(*tools: dict) -> FieldRanking:
    return FieldRanking({tool["names"]: tool for tool in tools})


def find(question: str) -> list[str]:
    return ToolIndex.rank(registry, registry.tools()).find(question)[0]


def test_arguments_are_searched_with_their_descriptions():
    tools = make_ranking(make_tool("a", hue="Shade of the paint."), make_tool("b", amps="Current."))
    assert tools.find("paint")[0] == ["a"]
    assert tools.find("amps")[0] == ["b"]


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
    assert tools.find("заказы")[0] == ["a"]
    assert tools.find("注文")[0] == ["b"]
    assert tools.find("größe")[0] == ["c"]


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
        ("unpaid fines", {READ}),
    ],
)
def test_the_verb_of_a_question_names_the_action(question, asked):
    assert read_vocabulary().read(question)[1] == asked


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


@pytest.mark.parametrize(
    ("question", "is_named"),
    [
        ("Which customers are there?", True),
        # A verb of an action of the project's own names it, another verb names nothing.
        ("Reopen it", True),
        ("Record it", False),
        # A word that is only in a filter.
        ("Anything below 20 euros?", False),
    ],
)
def test_a_tool_is_named_by_what_it_is_about_and_not_by_a_verb(question, is_named):
    assert ToolIndex.rank(registry, registry.tools()).find(question)[1] is is_named


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
