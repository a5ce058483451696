"""An optional group of a route's regular expression is an optional argument."""

from __future__ import annotations

import pytest
from django.urls import include, re_path
from rest_framework import views
from rest_framework.permissions import AllowAny
from rest_framework.response import Response


class Echo(views.APIView):
    permission_classes = [AllowAny]

    def get(self, request, **kwargs):
        return Response(kwargs)


ROUTES = {
    r"^day/(?:(?P<hour>\d+)/)?$": [({}, {}), ({"hour": 7}, {"hour": "7"})],
    r"^day/(?P<hour>\d+)?/?$": [({}, {}), ({"hour": 7}, {"hour": "7"})],
    r"^day/(?P<day>\d+)/(?:(?P<hour>\d+)/(?:(?P<minute>\d+)/)?)?$": [
        ({"day": 1}, {"day": "1"}),
        ({"day": 1, "hour": 2}, {"day": "1", "hour": "2"}),
        ({"day": 1, "hour": 2, "minute": 3}, {"day": "1", "hour": "2", "minute": "3"}),
    ],
}


@pytest.mark.parametrize(("regex", "calls"), ROUTES.items())
def test_an_optional_group_may_be_left_out(expose, agent_of, regex, calls):
    expose(re_path(regex, Echo.as_view()))
    ((name, tool),) = agent_of(None).tools().items()
    assert tool["inputSchema"].get("required", []) == list(calls[0][0])
    for arguments, kwargs in calls:
        assert agent_of(None).call(name, **arguments).envelope["data"] == kwargs
    nulls = {**dict.fromkeys(calls[-1][0]), **calls[0][0]}
    assert agent_of(None).call(name, **nulls).envelope["data"] == calls[0][1]


def test_an_optional_group_of_an_include_may_be_left_out(expose, agent_of):
    inner = [re_path(r"^days/$", Echo.as_view())]
    expose(re_path(r"^(?:(?P<tenant>\d+)/)?", include(inner)))
    (name,) = agent_of(None).tools()
    assert agent_of(None).call(name).envelope["data"] == {}
    assert agent_of(None).call(name, tenant=7).envelope["data"] == {"tenant": "7"}


def test_a_group_that_needs_another_one_is_not_found_alone(expose, agent_of):
    expose(re_path(list(ROUTES)[-1], Echo.as_view()))
    (name,) = agent_of(None).tools()
    result = agent_of(None).call(name, day=1, minute=3)
    assert result.envelope["data"]["error_code"] == "NOT_FOUND"
