"""Any answer fits any budget, is valid by its schema, and can be restored from the archive."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from drf_mcp.dispatch.content import encode_data
from drf_mcp.envelopes import OkEnvelope, PlainEnvelope, ResponseV2Envelope, StatusEnvelope
from drf_mcp.outcomes import Pagination
from tests.truncation.fitted import fit, schema_of, success

STRUCTURED = [ResponseV2Envelope, OkEnvelope, StatusEnvelope]
ENVELOPES = [*STRUCTURED, PlainEnvelope]
# Tokens that every envelope needs to say that a result is reduced, without notes of the view.
FLOOR = 600

names = st.text(max_size=6) | st.sampled_from(["id", "name", "title", "slug", "results", "next"])
texts = st.text(max_size=12) | st.builds(
    lambda text, times: text * times, st.text(min_size=1, max_size=9), st.integers(1, 400)
)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts
floats_are_finite = scalars.filter(lambda value: value not in (float("inf"), float("-inf")))


def grown(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Short lists and objects."""
    return st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4)


def long(answer: Any) -> list[Any]:
    """Return a list of long answers made of any answer."""
    return [
        [answer] * 150,
        {f"key {number}": answer for number in range(150)},
        {"id": 1, "inner": {"rows": [{"id": number, "of": answer} for number in range(99)]}},
        [{"id": number, "name": "N", "rows": [answer] * 40} for number in range(9)],
        [{"id": 1, "text": json.dumps(answer) * 90}, answer],
    ]


small = st.recursive(floats_are_finite, grown, max_leaves=6)
answers = small | st.builds(lambda answer, way: long(answer)[way], small, st.integers(0, 4))
pages = st.fixed_dictionaries(
    {
        "count": st.integers(0, 999),
        "next": st.none() | st.just("https://example.com/?page=2"),
        "previous": st.none(),
        "results": st.builds(
            lambda row, times: [{**row, "id": index} for index in range(times)],
            st.dictionaries(names, floats_are_finite, max_size=4),
            st.integers(0, 80),
        ),
    }
)
budgets = st.integers(FLOOR, 3000)


@pytest.mark.slow
@given(data=answers, limit=budgets, envelope_class=st.sampled_from(ENVELOPES))
def test_an_answer_fits_and_is_whole_with_the_archived_items(envelope_class, data, limit):
    fitted = fit(success(data), limit, envelope_class)
    assert fitted.tokens <= limit
    assert [json.loads(text) for text in fitted.texts]
    assert encode_data(fitted.restored) == encode_data(data)


@pytest.mark.slow
@given(data=pages, limit=budgets, envelope_class=st.sampled_from(ENVELOPES))
def test_a_page_fits_and_is_whole_with_the_archived_items(envelope_class, data, limit):
    page = Pagination(True, 999, page=1, cursor="2", next={"page": 2})
    fitted = fit(success(data, pagination=page), limit, envelope_class)
    assert fitted.tokens <= limit
    assert fitted.outcome.pagination == page
    assert encode_data(fitted.restored) == encode_data(data)


@given(data=answers, limit=st.integers(1, 2000), envelope_class=st.sampled_from(STRUCTURED))
def test_a_shortened_answer_is_valid_by_the_schema_of_the_whole(envelope_class, data, limit):
    schema = envelope_class().schema(schema_of(data))
    Draft202012Validator(schema).validate(fit(success(data), limit, envelope_class).envelope)


@given(data=answers, limit=st.integers(1, 1500))
def test_an_answer_never_takes_more_than_the_budget_or_the_floor(data, limit):
    """The floor is the length of a result that has a warning and no data."""
    fitted = fit(success(data), limit)
    assert fitted.tokens <= max(limit, FLOOR)
