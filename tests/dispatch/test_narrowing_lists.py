"""No feature shows, counts or sums up a row or a key that the list does not show over HTTP."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import Group
from django.core.exceptions import ImproperlyConfigured
from django.urls import path
from rest_framework import serializers

from drf_mcp import mcp_viewset
from drf_mcp.contrib.prompts import Prompt
from drf_mcp.exposure import registry
from tests.dispatch.narrowing_lists import WAYS, Groups, HidingPages, Ways, decorate, hide

MIDDLEWARE = "tests.dispatch.narrowing_lists.HidingMiddleware"
LIST, ONE = {"get": "list"}, {"get": "retrieve", "delete": "destroy"}


class Plain:
    """Adds nothing to a viewset."""


class AboutGroup(serializers.Serializer):
    group = serializers.PrimaryKeyRelatedField(queryset=Group.objects.all())


@pytest.fixture
def groups(db):
    Group.objects.all().delete()
    return [Group.objects.create(name=f"{'hid' if n % 2 else 'vis'}{n}") for n in range(6)]


@pytest.fixture
def doors(serve, groups, monkeypatch, settings):
    """Serve a list, and return its items over HTTP, and an agent."""

    def mount(way=Plain, aggregate=(), initkwargs=None, around=lambda view: view, **chosen):
        prompt = Prompt("about", text="{{ group.name }}", serializer_class=AboutGroup)
        monkeypatch.setattr(registry, "_added", [prompt])
        view = type("Own", (way, Groups), {})
        view = mcp_viewset(aggregate=list(aggregate), name="groups")(view) if aggregate else view
        settings.MIDDLEWARE = [*settings.MIDDLEWARE, *chosen.get("CALL_MIDDLEWARE", ())]
        served = serve(
            path("groups/", around(view.as_view(LIST, **(initkwargs or {})))),
            path("groups/<int:pk>/", view.as_view(ONE)),
            AUTHENTICATION_CLASSES=[],
            PERMISSION_CLASSES=[],
            **chosen,
        )
        items = served.http.get("/groups/").json()
        return items if isinstance(items, list) else items["results"], served.agent

    return mount


def complete(agent) -> set[str]:
    asked = {"name": "group", "value": ""}
    ref = {"type": "ref/prompt", "name": "about"}
    answer = agent.result("completion/complete", ref=ref, argument=asked)
    return set(answer["completion"]["values"])


def find_keys(items) -> set[str]:
    return {str(item["id"]) for item in items if item.get("id")}


def check_rows(groups, items, agent) -> None:
    assert complete(agent) <= find_keys(items)
    for row in groups:
        answer = agent.request("prompts/get", name="about", arguments={"group": str(row.pk)})
        if str(row.pk) not in find_keys(items):
            assert answer["error"]["code"] == -32602
            assert row.name not in json.dumps(answer)


def check_figures(items, agent) -> None:
    asked = {"group_by": ["name"], "metrics": ["count", "distinct_id"]}
    try:
        answer = agent.call_with("groups_aggregate", asked)
    except ImproperlyConfigured:
        return
    if not answer.is_error:
        assert answer.data["total"]["count"] == len(items)
        assert {g["name"] for g in answer.data["groups"]} <= {item.get("name") for item in items}
        assert answer.data["total"]["distinct_id"] == len(find_keys(items))


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_completion_and_prompts_have_only_keys_of_the_list(doors, groups, way):
    items, agent = doors(way)
    assert len(find_keys(items)) < 6
    check_rows(groups, items, agent)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_figures_are_those_of_the_list_or_refused(doors, way):
    try:
        items, agent = doors(way, aggregate=["id", "name"])
    except ImproperlyConfigured:
        return
    check_figures(items, agent)


AROUND = {
    "initkwargs": {"initkwargs": {"pagination_class": HidingPages}},
    "decorated": {"around": decorate},
    "middleware": {"CALL_MIDDLEWARE": [MIDDLEWARE]},
}


@pytest.mark.parametrize("options", AROUND.values(), ids=AROUND)
def test_what_stands_around_the_view_narrows_too(doors, groups, options):
    items, agent = doors(**options)
    assert len(items) == 3
    check_rows(groups, items, agent)
    try:
        items, agent = doors(aggregate=["id", "name"], **options)
    except ImproperlyConfigured:
        return
    check_figures(items, agent)


def test_a_stock_list_offers_all_keys_and_figures(doors, groups):
    items, agent = doors(aggregate=["name"])
    assert complete(agent) == find_keys(items) == {str(row.pk) for row in groups}
    assert agent.call("groups_aggregate").data["total"] == {"count": 6}


# Ways whose rows can be read from the answer, page by page.
READ = [
    *(Ways.InPaginator, Ways.InDjangoPaginator, Ways.InGetSerializer, Ways.InPaginateQueryset),
    *(Ways.InAttribute, Ways.InRow, Ways.InKey, Ways.InQuerySet),
]


@pytest.mark.parametrize("way", READ, ids=lambda way: way.__name__)
def test_keys_of_a_list_that_is_not_stock_are_read_from_its_answer(doors, groups, way):
    items, agent = doors(way)
    assert complete(agent) == find_keys(items) == {str(row.pk) for row in hide(groups)}
    arguments = {"group": str(groups[0].pk)}
    assert "result" in agent.request("prompts/get", name="about", arguments=arguments)


class TwoAPage(HidingPages):
    page_size = 2


class InPages:
    pagination_class = TwoAPage


def test_further_pages_are_read_within_a_bound(doors, groups, monkeypatch):
    monkeypatch.setattr("drf_mcp.dispatch.list_probe.MOST_PAGES", 1)
    assert len(complete(doors(InPages)[1])) == 2
    monkeypatch.setattr("drf_mcp.dispatch.list_probe.MOST_PAGES", 2)
    assert len(complete(doors(InPages)[1])) == 3


def test_middleware_that_changes_no_answer_leaves_a_list_stock(doors, groups):
    middleware = "django.middleware.locale.LocaleMiddleware"
    _, agent = doors(aggregate=["name"], CALL_MIDDLEWARE=[middleware])
    assert complete(agent) == {str(row.pk) for row in groups}
    assert agent.call("groups_aggregate").data["total"] == {"count": 6}
