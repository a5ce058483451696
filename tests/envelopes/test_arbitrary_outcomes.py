"""Arbitrary outcomes: rendered, encoded, parsed and validated."""

from __future__ import annotations

import string
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from drf_mcp.envelopes import (
    OkEnvelope,
    OkResponse,
    ResponseV2Envelope,
    StandardMCPResponse,
    StatusEnvelope,
    ToolResponse,
)
from drf_mcp.outcomes import (
    MISSING,
    Category,
    Failure,
    Fidelity,
    Outcome,
    Pagination,
    Problem,
    RateLimit,
    Severity,
    Warning,
)
from tests.envelopes.samples import STRUCTURED, parsed

words = st.text(max_size=8)
codes = st.text(string.ascii_letters + "_", min_size=1, max_size=8)
numbers = st.integers(0, 10_000)
scalars = st.none() | st.booleans() | numbers | st.floats(allow_nan=False) | words
values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
contexts = st.dictionaries(words, values, max_size=2)
pages = st.fixed_dictionaries(
    {"results": st.lists(values, max_size=3)},
    optional={"count": numbers, "next": words, "previous": st.none(), "facets": values},
)
problems = st.builds(
    Problem,
    code=codes,
    message=words,
    pointer=st.lists(words.map(lambda name: name.replace("~", "~0").replace("/", "~1"))).map(
        lambda tokens: "".join(f"/{token}" for token in tokens)
    ),
    received=st.just(MISSING) | values,
    accepted=st.none() | words,
    remediation=words,
)
failures = st.builds(
    Failure,
    code=codes,
    category=st.sampled_from(Category),
    message=words,
    remediation=words,
    problems=st.lists(problems, max_size=3).map(tuple),
    context=contexts,
    soft=st.booleans(),
)
warnings = st.builds(
    Warning,
    code=codes,
    message=words,
    severity=st.sampled_from([Severity.INFO, Severity.WARNING, Severity.ERROR]),
    context=contexts,
    remediation=words,
)
outcomes = st.builds(
    Outcome,
    tool=codes,
    status=st.just(200),
    data=values | pages,
    failure=st.none() | failures,
    request_id=words,
    warnings=st.lists(warnings, max_size=2).map(tuple),
    suggestions=st.lists(words, max_size=2).map(tuple),
    pagination=st.none()
    | st.builds(
        Pagination,
        has_more=st.booleans(),
        total_count=st.none() | numbers,
        page=st.none() | numbers,
        cursor=st.none() | words,
        next=st.none() | contexts,
    ),
    rate_limit=st.none() | st.builds(RateLimit, limit=st.none() | numbers, remaining=numbers),
    telemetry=st.just({}) | st.fixed_dictionaries({"duration_ms": st.floats(0, 1e6)}),
    fidelity=st.none()
    | st.builds(
        Fidelity,
        level=st.sampled_from(["full", "partial", "summary", "reference_only"]),
        dropped=st.lists(words, max_size=2).map(tuple),
        archives=st.dictionaries(words, words, max_size=2),
    ),
)

SCHEMAS = {
    envelope_class: Draft202012Validator(envelope_class().schema({}))
    for envelope_class in STRUCTURED
}


@given(outcome=outcomes)
def test_every_outcome_validates_and_has_its_success_or_failure(outcome: Outcome) -> None:
    """The models accept the result too."""
    rendered = {used: parsed(used(), outcome) for used in STRUCTURED}
    for envelope_class, answer in rendered.items():
        SCHEMAS[envelope_class].validate(answer)
        assert answer.get("success", answer.get("ok")) is (outcome.failure is None)
    ToolResponse(**rendered[ResponseV2Envelope])
    OkResponse.model_validate(rendered[OkEnvelope])
    answer = rendered[StatusEnvelope]
    assert StandardMCPResponse.model_validate(answer).finalize()["status"] == answer["status"]
