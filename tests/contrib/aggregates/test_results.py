"""Results of aggregates are enveloped, shortened and archived as other results are."""

from __future__ import annotations

import io

import pytest
from django.core.management import call_command
from django.urls import include, path
from rest_framework.permissions import IsAuthenticated

from drf_mcp.exposure import registry
from tests.contrib.aggregates.conftest import router
from tests.contrib.aggregates.journeys import JourneyViewSet

pytestmark = pytest.mark.usefixtures("journeys")
EVERY_DAY = {"group_by": ["left_at_day", "owner", "country"], "limit": 1000, "order": "group"}


@pytest.fixture
def archived(journeys, expose):
    expose(
        path("", include(router.urls)),
        ARCHIVE_CLASS="drf_mcp.archives.DatabaseArchive",
        MAX_RESULT_TOKENS=1000,
    )


def retrieve(agent, result):
    (reference,) = result.envelope["meta"]["content_archive_hashes"].values()
    return agent.call("content_retrieve", content_hash=reference)


@pytest.mark.slow
@pytest.mark.usefixtures("archived")
def test_groups_over_the_budget_wait_in_the_archive(agent_of):
    agent = agent_of("carol")
    result = agent.call_with("journeys_aggregate", EVERY_DAY)
    assert result.envelope["meta"]["content_fidelity"] == "partial"
    kept = result.data["groups"]
    assert 0 < len(kept) < result.data["group_count"]
    found = retrieve(agent, result)
    assert not found.is_error, found.envelope


@pytest.mark.slow
@pytest.mark.usefixtures("archived")
def test_archived_groups_are_refused_to_a_caller_who_may_not_list_any_more(agent_of, monkeypatch):
    agent = agent_of("carol")
    result = agent.call_with("journeys_aggregate", EVERY_DAY)
    refusing = type("Refusing", (IsAuthenticated,), {"has_permission": lambda *args: False})
    monkeypatch.setattr(JourneyViewSet, "permission_classes", [refusing])
    assert retrieve(agent, result).is_error


@pytest.mark.slow
def test_every_envelope_holds_the_figures(subtests, expose, agent_of):
    for envelope in ["OkEnvelope", "StatusEnvelope", "PlainEnvelope"]:
        with subtests.test(envelope=envelope):
            expose(path("", include(router.urls)), ENVELOPE_CLASS=f"drf_mcp.envelopes.{envelope}")
            result = agent_of("carol").call_with("journeys_aggregate", {})
            assert '"total":{"count":70}' in result.raw["content"][0]["text"].replace(" ", "")


def test_the_definition_describes_a_read(journeys):
    tool = registry.tool("journeys_aggregate")
    hints = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True}
    assert tool.annotations == {**hints, "openWorldHint": False}
    assert tool.description == (
        "Count journeys, or sum up, average or compare price, distance, passengers, duration, by "
        "day, week, month, quarter or year of day or left at, kind, stars, is return, code, owner, "
        "station, station name and 2 more. Filters as of journeys_list."
    )


@pytest.mark.parametrize("argument", ["group_by", "metrics"])
def test_names_beyond_the_bound_are_refused_with_its_sentence(journeys, agent_of, argument):
    for names in (["count"] * 21, ",".join(["kind"] * 21), [f"a{n}" for n in range(4000)]):
        result = agent_of("carol").call_with("journeys_aggregate", {argument: names})
        sentence = "'group_by' and 'metrics' take at most 20 names each."
        assert result.envelope["error"] == f"{argument}: {sentence}"


# --- Parity tests and commands -----------------------------------------------------------------


def output_of(command, *arguments):
    output = io.StringIO()
    call_command(command, *arguments, stdout=output)
    return output.getvalue()
