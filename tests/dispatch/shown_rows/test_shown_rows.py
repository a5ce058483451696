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

# Ways of a list to show alice one sheet and to hide bob's seven sheets: the mixin, whether the
# package can know that the one is shown, and how many rows it counts.
WAYS = [
    (Listed.Stock, True, 1),
    (Listed.Paged, True, 1),
    (Listed.Handler, True, 1),
    (Listed.PagedHandler, True, 1),
    (Listed.Pagination, True, 1),
    # A body of the project's own form may have further pages.
    (Listed.Wrapped, True, None),
    (Listed.Handwritten, False, None),
    (Listed.Leaving, False, None),
    (Listed.Refusing, False, None),
    (Listed.Raising, False, None),
    (Listed.Failing, False, None),
    (Listed.Missing, False, None),
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
        router.register("own", folders.OwnFolderViewSet, basename="own")
        router.register("unasked", folders.UnaskedFolderViewSet, basename="unasked")
        router.register("protecting", folders.ProtectingFolderViewSet, basename="protecting")
        router.register("untried", folders.UntriedFolderViewSet, basename="untried")
        router.register("sheets", sheets)
        router.register("liens", liens)
        patterns = [path("", include("drf_mcp.urls")), *router.urls]
        prompt = Prompt("ask", text="About {{ sheet }}.", serializer_class=SheetArgument)
        monkeypatch.setattr(registry, "_added", [prompt])
        settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": patterns})
        settings.DRF_MCP = {
            "EXPOSE": "urlconf",
            "DRY_RUN": True,
            "CONFIRM": True,
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


def rows_of(preview: dict, name: str) -> list[dict]:
    return [rows for rows in preview.get(name, []) if rows["model"] in ("sheets", "liens")]


def as_rows(model: str, count: int | None) -> list[dict]:
    return [{"model": model, **({"count": count, "tool": f"{model}_list"} if count else {})}]


# --- Names of rows ------------------------------------------------------------------------------


@pytest.mark.slow
def test_completion_and_prompts_name_only_rows_of_the_list(serve):
    found, expected = {}, {}
    for way, is_shown, _ in WAYS:
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


# --- Counts of rows -----------------------------------------------------------------------------


@pytest.mark.slow
def test_a_confirmation_a_dry_run_and_a_conflict_count_only_rows_of_the_list(serve, folder):
    """If the package cannot know which rows the list shows, none of them has a number."""
    found, expected = {}, {}
    for way, _, count in WAYS:
        agent = serve(way)
        preview = agent.call("folders_destroy", id=folder.pk).data["preview"]
        result = agent.call("folders_destroy", id=folder.pk, dry_run=True)
        report = result.envelope["meta"]["dry_run"]
        for owner in ("alice", "bob", "bob"):
            Lien.objects.create(folder=folder, owner=owner)
        error = agent.call("unasked_destroy", id=folder.pk).envelope["error"]
        Lien.objects.all().delete()
        found[way.__name__] = (
            rows_of(preview, "deleted"),
            report["deleted"],
            "Null" in report["note"],
            error,
        )
        shown = "liens (1 of them in liens_list)" if count else "liens"
        expected[way.__name__] = (
            as_rows("sheets", count),
            {"folder": 1, "sheet": count},
            count is None,
            f"The deletion was refused: {shown} depend on what would be deleted.",
        )
    assert found == expected
    assert Sheet.objects.count() == 8


def test_rows_of_a_list_that_a_toolset_removed_are_not_counted(serve, folder):
    agent = serve(Listed.Stock, TOOLSETS={"own": ["folders_*"]})
    agent.http.defaults["HTTP_MCP_TOOLSETS"] = "own"
    preview = agent.call("folders_destroy", id=folder.pk).data["preview"]
    assert rows_of(preview, "deleted") == as_rows("sheets", None)


def test_the_rows_of_all_pages_are_counted(serve, folder):
    Sheet.objects.update(owner="alice")
    for way in (Listed.PagedHandler, Listed.Paged):
        preview = serve(way).call("folders_destroy", id=folder.pk).data["preview"]
        assert rows_of(preview, "deleted") == as_rows("sheets", 8)


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


# --- Overridden deletes -------------------------------------------------------------------------


def test_the_preview_of_an_overridden_delete_shows_what_it_changes(serve, folder):
    agent = serve(Listed.Stock)
    first = agent.call("own_destroy", id=folder.pk)
    preview = first.data["preview"]
    assert rows_of(preview, "deleted") == as_rows("sheets", 1)
    changed = [rows["model"] for rows in preview["changed"]]
    assert changed == ["sheets"]
    assert Sheet.objects.filter(slug="kept").count() == 0
    folder.refresh_from_db()
    assert folder.name == "Deeds"
    agent.call("own_destroy", **first.data["next"])
    folder.refresh_from_db()
    assert (folder.name, Sheet.objects.filter(slug="kept").count()) == ("gone", 7)


def test_a_delete_that_protected_rows_prevent_is_a_conflict_and_not_a_confirmation(serve, folder):
    Lien.objects.create(folder=folder, owner="alice")
    result = serve(Listed.Stock).call("protecting_destroy", id=folder.pk)
    assert (result.is_error, result.code) == (True, "CONFLICT")
    assert "confirmation" not in result.data


def test_the_preview_of_a_delete_without_dry_run_does_not_run_it(serve, folder):
    preview = serve(Listed.Stock).call("untried_destroy", id=folder.pk).data["preview"]
    assert preview == {"object": f'folder {folder.pk}, name "Deeds"'}
