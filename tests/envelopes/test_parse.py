"""What an envelope wrote, its `parse` reads."""

from __future__ import annotations

import pytest

from drf_mcp.envelopes import BUILT_IN_ENVELOPES, PlainEnvelope
from drf_mcp.outcomes import Failure
from tests.envelopes import samples
from tests.envelopes.samples import STRUCTURED, parsed

OUTCOMES = [
    samples.PAGE,
    samples.LAST_CURSOR_PAGE,
    samples.NOT_FOUND,
    samples.THROTTLED,
    samples.SOFT,
    samples.SOFT_WITH_DATA,
    samples.TRIMMED,
    samples.WARNED,
    samples.invalid(samples.MISSING_NAME, samples.NESTED),
]


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("envelope_class", STRUCTURED)
def test_a_parsed_body_is_rendered_as_it_was(envelope_class, outcome):
    body = parsed(envelope_class(), outcome)
    assert parsed(envelope_class(), envelope_class().parse(body, outcome.status)) == body


@pytest.mark.parametrize("envelope_class", STRUCTURED)
@pytest.mark.parametrize("body", [None, [], "text", {}, {"results": [1]}, {"ok": 1, "meta": {}}])
def test_a_body_of_no_contract_is_not_parsed(envelope_class, body):
    assert envelope_class().parse(body) is None


def test_each_contract_reads_its_own_bodies_alone():
    bodies = [parsed(envelope, samples.PAGE) for envelope in BUILT_IN_ENVELOPES[:-1]]
    read = [[envelope.parse(b) is not None for b in bodies] for envelope in BUILT_IN_ENVELOPES[:-1]]
    assert read == [[True, False, False], [False, True, False], [False, False, True]]


def test_plain_text_of_a_failed_result_is_the_message():
    failure = PlainEnvelope().parse("Error executing tool: no", 500).failure
    assert isinstance(failure, Failure)
    assert failure.message == "Error executing tool: no"
