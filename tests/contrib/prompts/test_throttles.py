"""Throttles count prompts and completion: the endpoint's, and those of the views that are asked."""

from __future__ import annotations

import json

import pytest
from django.core.cache import cache
from django.urls import include, path
from rest_framework.throttling import UserRateThrottle

from drf_mcp.contrib.prompts import Prompt
from drf_mcp.exposure import registry
from example_project.shop.models import Customer
from example_project.shop.views import CustomerViewSet
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


# --- The throttles of a view ---------------------------------------------------------------------


class CustomerViews(CustomerViewSet):
    throttle_classes = [TwoAnHour]


@pytest.fixture
def throttled(settings, agent_of, monkeypatch):
    """Serves customers whose view takes two requests an hour."""
    cache.clear()
    monkeypatch.setattr(registry, "_added", [PROMPT, CUSTOMERS])
    rows = CustomerViews.as_view({"get": "list"})
    patterns = [path("", include("drf_mcp.urls")), path("customers/", rows)]
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": patterns})
    settings.DRF_MCP = {"EXPOSE": "urlconf"}
    registry.reload()
    yield agent_of("alice")
    cache.clear()


def ask(agent, *keys: int) -> int:
    """Ask for a prompt about customers, and return the status."""
    arguments = {"customers": json.dumps(keys)}
    params = {"name": "customers", "arguments": arguments}
    return agent.post(*agent.frame("prompts/get", params)).status_code


def test_a_prompt_and_a_completion_count_against_the_view_whose_rows_they_show(throttled, http_of):
    key = Customer.objects.filter(owner__username="alice").earliest("pk").pk
    assert ask(throttled, key) == 200
    throttled.result("completion/complete", **REQUESTS["completion/complete"])
    assert http_of("alice").get("/customers/").status_code == 429
    body, headers = throttled.frame("completion/complete", REQUESTS["completion/complete"])
    response = throttled.post(body, headers)
    assert response.status_code == 429
    assert 0 < int(response["Retry-After"]) <= 3600
    assert ask(throttled, key) == 429
