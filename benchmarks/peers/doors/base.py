"""The interface of an endpoint: it answers MCP messages in this process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.requests import REVISION, Request, Server


class Door(Server):
    """An endpoint of the project, through its WSGI handler; without a package, the API alone.

    Attributes:
        version: the version of the package.
        tools: the name of the tool for each operation.
        lacks: why a tool does not do its operation, by operation.
        revision: the protocol revision of the messages.
        by_hand: whether a user writes each tool, so that the list says nothing of the package.
    """

    version = ""
    tools: Mapping[str, str] = {
        "read": "customers_retrieve",
        "page": "customers_list",
        "create": "customers_create",
        "refused": "customers_create",
        "denied": "tickets_destroy",
    }
    lacks: Mapping[str, str] = {}
    revision = REVISION
    by_hand = False

    @classmethod
    def make_urlpatterns(cls) -> list[Any]:
        return []

    def keeps_api(self) -> bool:
        """Return whether a class still answers over HTTP after a tool was made of it."""
        return True

    def write_arguments(self, operation: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the arguments of an operation as the package's tool expects them."""
        return arguments

    def serve(self, request: Request) -> tuple[int, bytes]:
        """Return the endpoint's answer to a message."""
        # Most packages provide views for the project's URLconf.
        return self.answer(request.environment())
