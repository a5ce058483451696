"""A search by words in archived content."""

from __future__ import annotations

import pytest
from django.urls import path
from hypothesis import example, given
from hypothesis import strategies as st
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.stored.slices import PassageSearch, fold
from drf_mcp.truncation import count_tokens

FILLER = "The mole was repaired in spring, and ships came in with the tide as before.\n"
PLANTED = "The lighthouse keeper kept a parrot named Admiral Zeb.\n"


def find(query: str, *values: object) -> list:
    items = [{"id": str(n), "pointer": f"/{n}", "value": value} for n, value in enumerate(values)]
    return PassageSearch(query).find(items)


def test_words_and_symbols_are_found_in_any_case_and_script(subtests):
    for query, text in [
        ("parrot", PLANTED),
        ("PARROT", PLANTED),
        ("parrots", PLANTED),
        ("keeper of a parrot", PLANTED),
        ("lighthouse", "The lighthouses of the coast."),
        ("попугай", "Жил-был Попугай."),
        ("灯塔", "守护者住在灯塔里。"),
        ("学校教育", "这里的学校很大。"),
        (":=", "if (n := len(a)) > 10:"),
        ("yield from", "A generator may `yield from` another."),
        ("Straße", "Die STRASSE, die straße."),
    ]:
        with subtests.test(query=query, text=text):
            passages = find(query, "nothing to see", text)
            assert passages[0].item["id"] == "1"


def test_a_word_is_not_found_within_another(subtests):
    for query, text in [("art", "A part of it."), ("zebra", PLANTED)]:
        with subtests.test(query=query, text=text):
            assert find(query, text) == []


def test_a_rare_word_weighs_more_than_a_common_one():
    passages = find("ships Zeb", *[FILLER] * 20, PLANTED)
    assert passages[0].item["id"] == "20"


def test_a_phrase_comes_before_its_words():
    apart = "Zeb was no Admiral."
    assert [p.item["id"] for p in find("Admiral Zeb", apart, PLANTED)] == ["1", "0"]


def test_rows_are_searched_too():
    rows = [{"id": n, "name": f"customer {n}", "city": "Oslo"} for n in range(50)]
    (best, *_) = find("customer 37", *rows)
    assert best.item["value"]["id"] == 37
    assert (best.start, best.end) == (0, len(best.text))


def test_a_passage_of_a_long_text_starts_at_a_line_and_has_a_locator():
    text = FILLER * 500 + PLANTED + FILLER * 500
    (best, *_) = find("parrot Admiral", text)
    assert text[best.start - 1] == "\n"
    assert PLANTED in text[best.start : best.end]
    assert best.end - best.start < 1_200


@given(st.text(max_size=200))
def test_folding_keeps_every_character_in_its_place(text):
    assert len(fold(text)) == len(text)


# Texts of few words contain each other, so that the search finds passages.
WORDS = st.lists(st.sampled_from(["mole", "tide", "Über", "\n"]), max_size=40).map(" ".join)


@given(st.text(max_size=60) | WORDS, st.lists(st.text(max_size=400) | WORDS, max_size=4))
@example("mole", ["tide mole"])
def test_passages_of_any_query_lie_within_their_items(query, texts):
    for passage in find(query or "x", *texts):
        assert 0 <= passage.start < passage.end <= len(passage.text)


class Novel(APIView):
    """Returns a novel."""

    def get(self, request) -> Response:
        return Response({"title": "Novel", "text": FILLER * 4_000 + PLANTED + FILLER * 4_000})


@pytest.fixture
def novel_id(expose, alice) -> str:
    """The id of an archived novel."""
    expose(path("novel/", Novel.as_view()), ARCHIVE_CLASS="drf_mcp.archives.DatabaseArchive")
    (archive_id,) = alice.call("novel").envelope["meta"]["content_archive_hashes"]
    return archive_id


@pytest.mark.django_db
def test_a_sentence_in_a_novel_is_found_and_reading_goes_on_from_it(novel_id, alice):
    found = alice.call("content_retrieve", archive_id=novel_id, query="parrot").data
    (passage,) = found["passages"]
    assert PLANTED in passage["text"]
    onward = alice.call(
        "content_retrieve",
        archive_id=novel_id,
        ids=[passage["id"]],
        offset=passage["offset"],
        limit=len(passage["text"]),
    ).data
    assert onward["text"] == passage["text"]


@pytest.mark.django_db
def test_a_warning_names_words_without_a_match(novel_id, alice):
    result = alice.call("content_retrieve", archive_id=novel_id, query="submarine")
    assert result.data["passages"] == []
    assert "without query" in result.envelope["meta"]["suggestions"][0]


@pytest.mark.django_db
def test_passages_come_in_slices_that_fit(novel_id, alice, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "MAX_RESULT_TOKENS": 2000}
    result = alice.call("content_retrieve", archive_id=novel_id, query="tide")
    assert count_tokens(result.raw["content"][0]["text"]) <= 2000
    assert result.data["next_offset"] == len(result.data["passages"]) > 2


@pytest.mark.django_db
def test_ids_beyond_the_bound_are_refused_with_its_sentence(novel_id, alice, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "MAX_IDS": 2}
    result = alice.call("content_retrieve", archive_id=novel_id, ids=["1", "2", "3"])
    assert result.envelope["error"] == "ids: 'ids' takes at most 2 ids."
