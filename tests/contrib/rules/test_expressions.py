"""The values of conditions, and the texts that are no condition."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drf_mcp.contrib.rules.expressions import UNKNOWN, Expression, ExpressionError

TYPES = {
    ("amount",): "number",
    ("tier",): "text",
    ("urgent",): "boolean",
    ("tags",): "list",
    ("body",): "any",
    ("object", "total"): "number",
    ("object", "placed_at"): "datetime",
    ("now", "date"): "date",
}
VALUES = {
    ("amount",): Decimal(600),
    ("tier",): "gold",
    ("urgent",): True,
    ("tags",): ["new", "big"],
    ("body",): {"a": 1},
    ("object", "total"): None,
    ("object", "placed_at"): datetime.datetime(2026, 3, 1, 12, tzinfo=datetime.timezone.utc),
    ("now", "date"): datetime.date(2026, 3, 2),
}


def get_type(path):
    if path not in TYPES:
        raise ExpressionError(".".join(path))
    return TYPES[path]


def evaluate(text: str):
    """Check a condition and evaluate it."""
    expression = Expression(text)
    expression.check(get_type)
    return expression.evaluate(VALUES.__getitem__)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("amount > 500", True),
        ("500 < amount <= 600.00", True),
        ("amount * 2 - 1 == 1199", True),
        ("-amount < 0", True),
        ('tier == "gold"', True),
        ('tier in ["silver", "gold"]', True),
        ('tier not in ("silver", "gold")', False),
        ('"new" in tags', True),
        ('"ol" in tier', True),
        ("len(tags) > 1", True),
        ('lower("GOLD") == tier', True),
        ("urgent and not tier == 'silver'", True),
        ("urgent == true", True),
        ("object.total == null", True),
        ("object.total is not None", False),
        ("coalesce(object.total, amount) > 500", True),
        ('object.placed_at >= "2026-03-01"', True),
        ('"2026-03-02" > object.placed_at', True),
        ("object.placed_at < now.date", True),
        ("arguments['amount'] > 1", None),
        # A missing value makes a condition unknown, unless another part decides.
        ("object.total > 5", UNKNOWN),
        ("not object.total > 5", UNKNOWN),
        ("object.total > 5 and amount < 1", False),
        ("object.total > 5 or amount > 1", True),
        ("object.total != null and object.total > 5", False),
        ("object.total + 1 > 5", UNKNOWN),
        ("amount / 0 > 5", UNKNOWN),
        ("body > 5", UNKNOWN),
    ],
)
def test_a_condition_holds_or_is_unknown(text, holds):
    if holds is None:
        with pytest.raises(ExpressionError):
            evaluate(text)
    else:
        assert evaluate(text) is holds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "amount >",
        "amount",
        "tier > 5",
        'amount == "gold"',
        "urgent > 1",
        "tags > 1",
        "amount and urgent",
        "not tier",
        "tier + 1 > 2",
        "amont > 5",
        "object.total.real > 5",
        "amount ** 9 > 1",
        "amount // 2 > 1",
        "amount if urgent else 5",
        "lambda: 1",
        "[x for x in tags]",
        "tags[0] == 'new'",
        "__import__('os')",
        "().__class__",
        "f'{amount}' == tier",
        "amount.__class__ == 5",
        "len(tags, tags) > 1",
        "len(amount) > 1",
        "open('x') == tier",
        "(amount := 5) > 1",
        "b'x' == tier",
        "1j > amount",
        "1e999 > amount",
        "await x",
        'object.placed_at > "yesterday"',
        "urgent and " * 60 + "urgent",
        "not " * 30 + "urgent",
        "(" * 300 + "urgent" + ")" * 300,
        "-" * 490 + "1 > 2",
        "a" * 501,
        "urgent\x00",
    ],
)
def test_a_text_that_is_no_condition_is_refused(text):
    with pytest.raises(ExpressionError):
        evaluate(text)


@given(st.text(max_size=80))
def test_any_text_is_a_condition_or_refused(text):
    try:
        result = evaluate(text)
    except ExpressionError:
        return
    assert result in (True, False) or result is UNKNOWN


WORDS = ["amount", "tier", "tags", "urgent", "object.placed_at", "body", "5", "'x'", "null", "true"]
OPERATORS = [">", "<=", "==", "!=", "in", "not in", "+", "*", "/", "and", "or", "is"]
TERMS = st.lists(
    st.tuples(st.sampled_from(["", "not ", "-", "len ", "("]), st.sampled_from(WORDS)),
    min_size=1,
    max_size=5,
)


@given(TERMS, st.lists(st.sampled_from(OPERATORS), min_size=5, max_size=5), st.data())
def test_a_checked_condition_can_be_evaluated(terms, operators, data):
    """A saved condition never crashes, whichever values it is given."""
    parts = [f"{before}{word}{')' * (before == '(')}" for before, word in terms]
    text = parts[0] + "".join(f" {o} {p}" for o, p in zip(operators, parts[1:], strict=False))
    try:
        expression = Expression(text)
        expression.check(get_type)
    except ExpressionError:
        return
    values = st.one_of(
        st.none(),
        st.just(UNKNOWN),
        st.booleans(),
        st.decimals(allow_nan=False, allow_infinity=False),
        st.text(max_size=3),
        st.dates(),
        st.datetimes(),
        st.datetimes(timezones=st.just(datetime.timezone.utc)),
        st.lists(st.text(max_size=1), max_size=2),
    )
    known = {path: data.draw(values) for path in TYPES}
    result = expression.evaluate(known.__getitem__)
    assert result in (True, False) or result is UNKNOWN


@given(st.sampled_from([True, False, None]), st.sampled_from([True, False, None]))
def test_unknown_behaves_as_null_does_in_sql(one, other):
    known = {("urgent",): one, ("tier",): other}

    def holds(text: str):
        found = Expression(text).evaluate(known.__getitem__)
        return None if found is UNKNOWN else found

    both = False if False in (one, other) else None if None in (one, other) else True
    either = True if True in (one, other) else None if None in (one, other) else False
    assert holds("urgent and tier") is both
    assert holds("urgent or tier") is either
    assert holds("not urgent") is (None if one is None else not one)
