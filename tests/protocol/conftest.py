"""Fixtures that check responses against the official types."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp_types import methods
from mcp_types.jsonrpc import JSONRPCError, JSONRPCResponse

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
