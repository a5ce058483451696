"""Texts that name or count rows name and count only rows that the list shows the caller."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.urls import include, path
from rest_framework import serializers
from rest_framework.authentication import TokenAuthentication
from rest_framework.routers import SimpleRouter

from drf_mcp.contrib.prompts import Prompt
from drf_mcp.tools import mcp_viewset, registry
from tests.agents import make_agent
from tests.dispatch.shown_rows import folders
from tests.dispatch.shown_rows.folders import Folder, Lien, Listed, Sheet

# Ways of a list to show alice one sheet and to hide bob's seven sheets: the mixin, and whether the
# package can know that the one is shown.
WAYS = [
    (Listed.Stock, True),
    (Listed.Paged, True),
    (Listed.Handler, True),
    (Listed.PagedHandler, True),
    (Listed.Pagination, True),
    (Listed.Wrapped, True),
    (Listed.Handwritten, False),
    (Listed.Leaving, False),
    (Listed.Refusing, False),
    (Listed.Raising, False),
    (Listed.Failing, False),
    (Listed.Missing, False),
]


class SheetArgument(serializers.Serializer):
    sheet = serializers.SlugRelatedField("slug", queryset=Sheet.objects.all())


@pytest.fixture(scope="module")
def tables(django_db_setup, django_db_blocker) -> Iterator[None]:
    with django_db_blocker.unblock(), connection.schema_editor() as editor:
        for model in folders.MODELS:
            editor.create_model(model)
    yield
    with django_db_blocker.unblock(), connection.schema_editor() as editor:
        for model in reversed(folders.MODELS):
            editor.delete_model(model)


@pytest.fixture
def folder(tables, db) -> Folder:
    """A folder with one sheet of alice and seven sheets of bob."""
    folder = Folder.objects.create(name="Deeds")
    for number in range(8):
        folder.sheets.create(slug=f"sheet-{number}", owner="bob" if number else "alice")
    return folder


@pytest.fixture
def serve(settings, monkeypatch, folder):
    """Serve lists with one of the mixins; returns alice's agent."""

    def serve(way, aggregate=None, **mcp_settings):
        sheets = folders.make_view(way, Sheet, folders.SheetSerializer)
        sheets = mcp_viewset(aggregate=aggregate)(sheets) if aggregate else sheets
        liens = folders.make_view(way, Lien, folders.LienSerializer)
        router = SimpleRouter()
        router.register("folders", folders.FolderViewSet)
        router.register("sheets", sheets)
        router.register("liens", liens)
        patterns = [path("", include("drf_mcp.urls")), *router.urls]
        prompt = Prompt("ask", text="About {{ sheet }}.", serializer_class=SheetArgument)
        monkeypatch.setattr(registry, "_added", [prompt])
        settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": patterns})
        settings.DRF_MCP = {
            "EXPOSE": "urlconf",
            "AUTHENTICATION_CLASSES": [TokenAuthentication],
            **mcp_settings,
        }
        registry.reload()
        agent = make_agent("alice")
        agent.http.raise_request_exception = False
        return agent

    return serve


def complete(agent, ref: dict, name: str) -> list[str]:
    argument = {"name": name, "value": ""}
    return agent.result("completion/complete", ref=ref, argument=argument)["completion"]["values"]


# --- Names of rows ------------------------------------------------------------------------------


@pytest.mark.slow
def test_completion_and_prompts_name_only_rows_of_the_list(serve):
    found, expected = {}, {}
    for way, is_shown in WAYS:
        agent = serve(way)
        answers = [
            agent.request("prompts/get", name="ask", arguments={"sheet": sheet})
            for sheet in ("sheet-3", "sheet-0")
        ]
        completed = complete(agent, {"type": "ref/prompt", "name": "ask"}, "sheet")
        found[way.__name__] = completed, ["result" in answer for answer in answers]
        # No tool lists the model: the field of the prompt decides.
        is_open = way is Listed.Missing
        taken = [is_open, is_shown or is_open]
        expected[way.__name__] = ["sheet-0"] if is_shown else [], taken
    assert found == expected


# --- Figures -------------------------------------------------------------------------------------


def test_an_aggregate_counts_only_rows_of_the_list(serve):
    result = serve(Listed.Stock, aggregate=["owner"]).call("sheets_aggregate")
    assert result.data["total"] == {"count": 1}


def test_an_aggregate_over_a_list_serializer_that_filters_is_refused(serve):
    result = serve(Listed.Leaving, aggregate=["owner"]).call("sheets_aggregate")
    assert result.is_error
    assert "OwnListSerializer writes the list in a way of its own." in result.envelope["error"]


def test_an_aggregate_over_an_overridden_list_is_a_configuration_error(serve):
    serve(Listed.Handler, aggregate=["owner"])
    with pytest.raises(ImproperlyConfigured, match="code of its own"):
        registry.tools()
