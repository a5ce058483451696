"""The output of commands in another language, and the parts that are never translated."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.core.management import CommandError
from django.urls import path
from django.utils import translation
from django.utils.translation import trans_real
from rest_framework import serializers
from rest_framework.permissions import IsAdminUser, IsAuthenticated
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.contrib.operators.exposure_report import find_unexposed
from drf_mcp.contrib.operators.lock import LockFile
from drf_mcp.management.screen import group_digits
from drf_mcp.tools import registry
from tests.management import library

pytestmark = pytest.mark.django_db
WIDE = 100_000
REPORTS = (
    ["findings"],
    ["size"],
    ["unexposed"],
    ["why", "shelves_create", "--as", "alice"],
    ["why", "choosy", "--as", "anonymous"],
    ["show", "choosy"],
)


class Bare(serializers.Serializer):
    colour = serializers.CharField()
    kind = serializers.ChoiceField(["a", "b"])


class Choosy(APIView):
    """Take a few things."""

    serializer_class = Bare

    @property
    def permission_classes(self) -> list:
        return [IsAdminUser | IsAuthenticated]

    def post(self, request) -> Response:  # choosy
        return Response()


class Open(APIView):
    permission_classes = []

    def post(self, request) -> Response:  # open
        return Response(request.data)


@pytest.fixture
def in_brackets(monkeypatch) -> Callable[[], None]:
    """Add a language whose texts are the English ones in brackets."""

    def switch() -> None:
        def translate(find: Callable[..., str], *args: object) -> str:
            text = find(*args)
            return f"⟦{text}⟧" if text and translation.get_language() else text

        for name in ("gettext", "ngettext", "pgettext"):
            find = getattr(trans_real, name)
            translated = lambda *args, find=find: translate(find, *args)  # noqa: E731
            monkeypatch.setattr(translation._trans, name, translated, raising=False)

    return switch


@pytest.fixture(autouse=True)
def exposed(expose, shelves) -> None:
    views = [path("choosy/", Choosy.as_view()), path("open/", Open.as_view())]
    expose(*library.urlpatterns, *views, EXCLUDE=["secret*"])


@pytest.mark.parametrize("args", REPORTS, ids=" ".join)
def test_a_report_has_the_same_groups_and_order_in_every_language(printed, in_brackets, args):
    english = printed(*args, columns=WIDE)
    in_brackets()
    translated = printed(*args, columns=WIDE)
    assert translated.count("⟦") > 2
    assert re.sub("[⟦⟧]", "", translated).split() == english.split()


@pytest.mark.slow
@pytest.mark.parametrize("args", [*REPORTS, ["risks"]], ids=" ".join)
def test_json_is_the_same_in_every_language(printed, in_brackets, args):
    english = printed(*args, "--json")
    in_brackets()
    assert printed(*args, "--json") == english


def test_numbers_have_the_separators_of_the_language(subtests):
    for language, written in [("en", "5,490"), ("de", "5.490")]:
        with subtests.test(language=language, written=written):
            with translation.override(language):
                assert group_digits(5490) == written


def test_a_lock_file_is_the_same_in_every_language(run, in_brackets, tmp_path):
    files = [tmp_path / name for name in ("english.json", "translated.json")]
    run("mcp_tools", "lock", str(files[0]))
    in_brackets()
    run("mcp_tools", "lock", str(files[1]))
    english, translated = (file.read_text() for file in files)
    assert "chosen by the view" in english
    assert translated == english


def test_an_unchanged_lock_file_has_no_changes_in_another_language(in_brackets, tmp_path):
    lock = LockFile(tmp_path / "lock.json")
    lock.write()
    in_brackets()
    assert lock.find_changes() == []


def test_columns_of_the_risks_are_aligned_with_their_headings_in_another_language(
    printed, in_brackets
):
    in_brackets()
    heading, *rows = printed("risks").splitlines()
    marks = [row for row in rows if "⟦yes⟧" in row or "⟦no⟧" in row.lower()]
    starts = [match.start() for match in re.finditer(r"\S+", heading)]
    assert marks
    for row in marks:
        assert {row[start - 1] for start in starts[: len(row)]} == {" "}


def test_an_unknown_name_is_refused_in_the_language_of_the_user(run, in_brackets):
    in_brackets()
    with pytest.raises(
        CommandError, match=r"^⟦There is no user 'alcie'\.⟧ ⟦Did you mean alice\?⟧$"
    ):
        run("mcp_tools", "--as", "alcie")


def test_the_reason_for_an_unexposed_endpoint_has_the_language_of_the_user(in_brackets):
    in_brackets()
    assert all(each.reason.startswith("⟦") for each in find_unexposed(registry))
