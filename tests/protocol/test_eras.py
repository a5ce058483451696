"""The era of a message, and how the era validates messages and finishes results."""

from __future__ import annotations

import mcp_types._v2025_11_25 as v2025
import mcp_types._v2026_07_28 as v2026
import pytest
from django.utils.datastructures import CaseInsensitiveMapping
from mcp_types import methods

from drf_mcp.calls.capability import ToolsCapability
from drf_mcp.exceptions import UnsupportedProtocolVersion
from drf_mcp.protocol import (
    HandshakeEra,
    Message,
    StatelessEra,
    constants,
    jsonrpc,
    select_by_headers,
    select_era,
)
from drf_mcp.protocol.constants import (
    DEFAULT_REVISION,
    LATEST_HANDSHAKE_REVISION,
    PROTOCOL_VERSION_KEY,
    REVISIONS,
    STATELESS_REVISION,
)

# The methods of every server, and those of the tools capability.
RESULT_MEMBERS = {
    revision: {**constants.RESULT_MEMBERS[revision], **ToolsCapability.result_members[revision]}
    for revision in constants.REVISIONS
}
NAMES = ToolsCapability.name_parameters
SERVER = {"name": "shop", "version": "1"}
TOOL = {
    "name": "orders_list",
    "title": "List orders",
    "description": "All orders.",
    "inputSchema": {"type": "object"},
    "outputSchema": {"type": "object"},
    "annotations": {"readOnlyHint": True},
    "icons": [{"src": "https://example.com/a.png"}],
    "execution": {"taskSupport": "forbidden"},
    "_meta": {"a": 1},
}
RESULTS = {
    "initialize": {
        "protocolVersion": LATEST_HANDSHAKE_REVISION,
        "capabilities": {"tools": {}},
        "serverInfo": SERVER,
        "instructions": "Ask.",
    },
    "ping": {},
    "server/discover": {
        "supportedVersions": list(REVISIONS),
        "capabilities": {"tools": {}},
        "instructions": "Ask.",
    },
    "tools/list": {"tools": [TOOL], "nextCursor": "2", "cacheScope": "public"},
    "tools/call": {
        "content": [{"type": "text", "text": "{}"}],
        "structuredContent": {},
        "isError": True,
    },
}
VERSION_META = {PROTOCOL_VERSION_KEY: STATELESS_REVISION}


def era_of(revision):
    return select_by_headers({"MCP-Protocol-Version": revision})


def revision_headers(revision, **others):
    return CaseInsensitiveMapping({"MCP-Protocol-Version": revision, **others})


def members(model):
    return {field.alias or name for name, field in model.model_fields.items()}


NO_HEADERS = CaseInsensitiveMapping({})


class TestSelect:
    def test_the_revision_in_the_header_selects_the_era(self, subtests):
        for method in ["tools/list", "notifications/initialized", "nonsense"]:
            for revision in REVISIONS:
                with subtests.test(method=method, revision=revision):
                    assert (
                        select_era(Message(1, method), revision_headers(revision)).revision
                        == revision
                    )

    def test_a_body_that_names_a_revision_is_stateless(self, subtests):
        """The headers do not matter."""
        for headers in [None, NO_HEADERS, revision_headers("2025-11-25"), revision_headers("v999")]:
            for id in [1, None]:
                for method in ["initialize", "tools/list"]:
                    with subtests.test(headers=headers, id=id, method=method):
                        message = Message(id, method, {"_meta": VERSION_META})
                        assert isinstance(select_era(message, headers), StatelessEra)

    def test_a_body_with_an_unknown_revision_is_stateless(self, subtests):
        """`StatelessEra.validate` then refuses the revision."""
        for revision in ["v999", "2025-06-18", None, 1]:
            with subtests.test(revision=revision):
                message = Message(1, "tools/list", {"_meta": {PROTOCOL_VERSION_KEY: revision}})
                assert isinstance(select_era(message, NO_HEADERS), StatelessEra)

    def test_an_unknown_revision_in_the_header_is_refused(self, subtests):
        for method in ["tools/list", "initialize", "notifications/initialized"]:
            for revision in ["2024-11-05", "v999", "", "2025-06-18,2025-06-18"]:
                with subtests.test(method=method, revision=revision):
                    with pytest.raises(UnsupportedProtocolVersion) as caught:
                        select_era(
                            Message(1, method, {"protocolVersion": "2025-06-18"}),
                            revision_headers(revision),
                        )
                    assert (caught.value.code, caught.value.http_status) == (-32022, 400)
                    assert caught.value.data == {
                        "supported": list(REVISIONS),
                        "requested": revision,
                    }

    def test_without_headers_the_latest_handshake_revision_is_selected(self):
        era = select_era(Message(1, "tools/list"), None)
        assert (type(era), era.revision) == (HandshakeEra, LATEST_HANDSHAKE_REVISION)

    def test_initialize_with_the_stateless_header_is_stateless(self):
        message = Message(1, "initialize", {"protocolVersion": "2025-06-18"})
        assert isinstance(select_era(message, revision_headers(STATELESS_REVISION)), StatelessEra)

    def test_the_headers_alone_select_the_revision(self, subtests):
        for headers, revision in [
            (None, LATEST_HANDSHAKE_REVISION),
            (NO_HEADERS, DEFAULT_REVISION),
        ] + [(revision_headers(revision), revision) for revision in REVISIONS]:
            with subtests.test(headers=headers, revision=revision):
                assert select_by_headers(headers).revision == revision


class TestRevisions:
    def test_the_methods_are_the_official_ones(self, subtests):
        for revision in REVISIONS:
            with subtests.test(revision=revision):
                for method in RESULT_MEMBERS[revision]:
                    assert (method, revision) in methods.CLIENT_REQUESTS

    def test_result_members_are_the_official_ones(self, subtests):
        for revision, method, model in [
            ("2025-11-25", "initialize", v2025.InitializeResult),
            ("2025-11-25", "tools/list", v2025.ListToolsResult),
            ("2025-11-25", "tools/call", v2025.CallToolResult),
            ("2026-07-28", "server/discover", v2026.DiscoverResult),
            ("2026-07-28", "tools/list", v2026.ListToolsResult),
            ("2026-07-28", "tools/call", v2026.CallToolResult),
        ]:
            with subtests.test(revision=revision, method=method, model=model):
                assert RESULT_MEMBERS[revision][method] == members(model)


def finish(revision, method, given):
    return era_of(revision).finish(given, RESULT_MEMBERS[revision][method], SERVER)


class TestFinish:
    @pytest.mark.parametrize(
        ("revision", "method"),
        [(revision, method) for revision in REVISIONS for method in RESULT_MEMBERS[revision]],
    )
    def test_a_result_is_an_official_one(self, read_result, revision, method):
        """The result is valid in its revision and has no other members."""
        finished = finish(revision, method, RESULTS[method])
        result = read_result(jsonrpc.encode_result(1, finished), method, revision)
        assert result.keys() <= RESULT_MEMBERS[revision][method]

    def test_results_that_a_client_may_cache_have_a_time_to_live(self, subtests):
        """The scope is private by default."""
        for method in ["server/discover", "tools/list"]:
            with subtests.test(method=method):
                finished = finish(STATELESS_REVISION, method, RESULTS[method])
                expected = RESULTS[method].get("cacheScope", "private")
                assert (finished["ttlMs"], finished["cacheScope"]) == (60_000, expected)


class TestObjects:
    def test_a_tool_has_the_members_of_the_revision(self, subtests):
        for revision, absent in [
            ("2025-06-18", {"icons", "execution"}),
            ("2025-11-25", set()),
            ("2026-07-28", {"execution"}),
        ]:
            with subtests.test(revision=revision, absent=absent):
                assert TOOL.keys() - era_of(revision).tool_members(TOOL).keys() == absent

    def test_the_server_info_has_the_members_of_the_revision(self, subtests):
        for revision, present in [
            ("2025-06-18", {"name", "version", "title"}),
            ("2025-11-25", members(v2025.Implementation)),
            ("2026-07-28", members(v2026.Implementation)),
        ]:
            with subtests.test(revision=revision, present=present):
                given = dict.fromkeys(members(v2026.Implementation) | {"homepage"}, "x")
                assert era_of(revision).implementation_members(given).keys() == present

    def test_tool_members_are_the_official_ones(self, subtests):
        for revision, model in [("2025-11-25", v2025.Tool), ("2026-07-28", v2026.Tool)]:
            with subtests.test(revision=revision, model=model):
                given = dict.fromkeys(members(model), "x")
                assert era_of(revision).tool_members(given) == given

    def test_the_oldest_revision_has_no_resource_links(self):
        having = [r for r in REVISIONS if "resource_link" in era_of(r).content_types]
        assert having == ["2026-07-28", "2025-11-25", "2025-06-18"]
