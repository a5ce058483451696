"""Fixtures that check responses against the official types."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.utils.datastructures import CaseInsensitiveMapping
from mcp_types import methods
from mcp_types.jsonrpc import JSONRPCError, JSONRPCResponse

from drf_mcp.protocol.constants import (
    CLIENT_CAPABILITIES_KEY,
    PROTOCOL_VERSION_KEY,
    STATELESS_REVISION,
)
from drf_mcp.protocol.jsonrpc import Message
from tests.oracles.watching import get_official_types


@pytest.fixture
def read_result():
    def read(response: bytes, method: str, revision: str) -> dict[str, Any]:
        result = JSONRPCResponse.model_validate_json(response).result
        methods.validate_server_result(method, revision, result, surface=get_official_types(result))
        return result

    return read


@pytest.fixture
def read_error():
    def read(response: bytes) -> tuple[Any, dict[str, Any]]:
        JSONRPCError.model_validate_json(response)
        message = json.loads(response)
        return message["id"], message["error"]

    return read


@pytest.fixture
def stateless_request():
    def build(method: str, meta: dict[str, Any] | None = None, **params: Any):
        meta = {
            PROTOCOL_VERSION_KEY: STATELESS_REVISION,
            CLIENT_CAPABILITIES_KEY: {},
            **(meta or {}),
        }
        message = Message(1, method, {**params, "_meta": meta})
        headers = {"MCP-Protocol-Version": STATELESS_REVISION, "Mcp-Method": method}
        if "name" in params:
            headers["Mcp-Name"] = params["name"]
        return message, CaseInsensitiveMapping(headers)

    return build
