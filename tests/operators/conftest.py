"""What the system checks find."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.core.checks import CheckMessage, run_checks


@pytest.fixture
def found() -> Callable[..., list[CheckMessage]]:
    def of(id: str, *, deploy: bool = False) -> list[CheckMessage]:
        messages = run_checks(tags=["drf_mcp"], include_deployment_checks=deploy)
        return [message for message in messages if message.id == id]

    return of
