"""Commands that run in this process, on a screen of a given width."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from django.core.management import call_command

from tests.management import library


@pytest.fixture
def run(monkeypatch) -> Callable[..., tuple[int, str]]:
    def run(name: str, *args: str, columns: int = 200, **options) -> tuple[int, str]:
        monkeypatch.setenv("COLUMNS", str(columns))
        out, code = io.StringIO(), 0
        try:
            call_command(name, *args, stdout=out, stderr=io.StringIO(), **options)
        except SystemExit as exc:
            code = exc.code
        return code, out.getvalue()

    return run


@pytest.fixture
def printed(run) -> Callable[..., str]:
    def printed(*args: str, columns: int = 200, **options) -> str:
        code, text = run("mcp_tools", *args, columns=columns, **options)
        assert code == 0
        return text

    return printed


@pytest.fixture
def shelves(expose) -> None:
    expose(*library.urlpatterns, EXCLUDE=["secret*", "content_retrieve"])
