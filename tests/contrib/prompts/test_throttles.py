"""The endpoint's throttles count prompts and completion, each message once."""

from __future__ import annotations

import pytest
from django.core.cache import cache
from rest_framework.throttling import UserRateThrottle

from drf_mcp.contrib.prompts import Prompt
from tests.contrib.prompts.prompts import ComplaintSerializer, CustomersSerializer

PROMPT = Prompt("note", text="a")
COMPLAINT = Prompt("complaint", text="a", serializer_class=ComplaintSerializer)
CUSTOMERS = Prompt("customers", text="a", serializer_class=CustomersSerializer)


class TwoAnHour(UserRateThrottle):
    rate = "2/hour"
    scope = "two_an_hour"


@pytest.fixture
def agent(serve):
    cache.clear()
    yield serve(PROMPT, COMPLAINT, CUSTOMERS, endpoint={"throttle_classes": [TwoAnHour]})
    cache.clear()


REQUESTS = {
    "prompts/get": {"name": "note"},
    "completion/complete": {
        "ref": {"type": "ref/prompt", "name": "customers"},
        "argument": {"name": "customers", "value": ""},
    },
}


@pytest.mark.parametrize("method", REQUESTS)
def test_a_message_beyond_the_rate_is_refused(agent, method):
    for _ in range(2):
        agent.result(method, **REQUESTS[method])
    body, headers = agent.frame(method, REQUESTS[method])
    response = agent.post(body, headers)
    assert response.status_code == 429
    assert 0 < int(response["Retry-After"]) <= 3600
    assert response.json()["error"]["code"] == 429


def test_the_views_that_a_message_runs_count_nothing(agent):
    agent.result("completion/complete", **REQUESTS["completion/complete"])
    agent.result("prompts/get", **REQUESTS["prompts/get"])
    (history,) = [value for key, value in cached().items() if "two_an_hour" in key]
    assert len(history) == 2


def test_lists_of_prompts_are_not_counted(agent):
    for _ in range(3):
        agent.result("prompts/list")
    assert not cached()


def cached() -> dict:
    return {key: cache.get(key.split(":", 2)[2]) for key in cache._cache}
