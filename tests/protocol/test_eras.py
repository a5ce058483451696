"""The era of a message, and how the era validates messages and finishes results."""

from __future__ import annotations

import mcp_types._v2025_11_25 as v2025
import mcp_types._v2026_07_28 as v2026
import pytest
from django.utils.datastructures import CaseInsensitiveMapping
from mcp_types import methods

from drf_mcp.exceptions import (
    HeaderMismatch,
    InvalidParams,
    UnsupportedProtocolVersion,
)
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
    CLIENT_CAPABILITIES_KEY,
    DEFAULT_REVISION,
    HANDSHAKE_REVISIONS,
    LATEST_HANDSHAKE_REVISION,
    PROTOCOL_VERSION_KEY,
    REVISIONS,
    STATELESS_REVISION,
)
from drf_mcp.server import Server
from drf_mcp.tools import registry
from drf_mcp.tools.capability import ToolsCapability

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

    def test_whitespace_around_the_header_is_ignored(self):
        assert (
            select_era(Message(1, "ping"), revision_headers(" 2025-06-18 ")).revision
            == "2025-06-18"
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

    def test_an_error_repeats_only_the_start_of_a_long_header(self):
        with pytest.raises(UnsupportedProtocolVersion) as caught:
            select_era(Message(1, "ping"), revision_headers("v" * 5000))
        assert caught.value.data["requested"] == "v" * 100

    def test_a_malformed_header_is_refused(self):
        with pytest.raises(HeaderMismatch):
            select_era(Message(1, "ping"), revision_headers("2025-06-18é"))

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


class TestMethods:
    def test_the_server_has_a_handler_for_each_method(self, subtests):
        for revision in REVISIONS:
            with subtests.test(revision=revision):
                for method, members in RESULT_MEMBERS[revision].items():
                    handler, defined = Server(registry).find_handler(method, era_of(revision))
                    assert callable(handler)
                    assert defined == members


class TestHandshakeValidation:
    def test_the_handshake_era_accepts_any_request(self, subtests):
        for id in [1, None]:
            for method in ["tools/call", "ping", "notifications/initialized"]:
                with subtests.test(id=id, method=method):
                    era_of("2025-06-18").validate(Message(id, method), None, NAMES)


class TestStatelessValidation:
    """The order of the checks is that of the official conformance suite."""

    era = era_of(STATELESS_REVISION)

    def refusal(self, exception, message, headers):
        with pytest.raises(exception) as caught:
            self.era.validate(message, headers, NAMES)
        assert caught.value.http_status == 400
        return caught.value

    @pytest.mark.parametrize("method", ["server/discover", "tools/list", "unknown/method"])
    def test_a_request_with_any_method_is_valid(self, stateless_request, method):
        """`find_handler` checks that the method exists."""
        message, headers = stateless_request(method)
        self.era.validate(message, headers, NAMES)

    def test_a_tool_call_is_valid(self, stateless_request):
        message, headers = stateless_request("tools/call", name="orders_list", arguments={})
        methods.validate_client_request("tools/call", STATELESS_REVISION, message.params)
        self.era.validate(message, headers, NAMES)

    def test_the_client_info_is_not_validated(self, stateless_request):
        meta = {"io.modelcontextprotocol/clientInfo": None}
        self.era.validate(*stateless_request("tools/list", meta), NAMES)

    @pytest.mark.parametrize("capabilities", [None, [], "x", True])
    def test_capabilities_that_are_not_an_object_are_refused(self, stateless_request, capabilities):
        meta = {CLIENT_CAPABILITIES_KEY: capabilities}
        exc = self.refusal(InvalidParams, *stateless_request("tools/list", meta))
        assert CLIENT_CAPABILITIES_KEY in exc.message

    @pytest.mark.parametrize("revision", [None, 1, {}, []])
    def test_a_revision_that_is_not_a_string_is_refused(self, stateless_request, revision):
        meta = {PROTOCOL_VERSION_KEY: revision}
        exc = self.refusal(InvalidParams, *stateless_request("tools/list", meta))
        assert PROTOCOL_VERSION_KEY in exc.message

    @pytest.mark.parametrize("revision", ["v999.0.0", "2025-11-25"])
    def test_a_revision_that_differs_from_the_header_is_refused(self, stateless_request, revision):
        """The headers are compared before the revision is validated."""
        meta = {PROTOCOL_VERSION_KEY: revision}
        self.refusal(HeaderMismatch, *stateless_request("server/discover", meta))

    def test_a_revision_that_is_not_stateless_is_refused(self, subtests):
        """The revision is validated before the rest of the _meta."""
        for revision in ["v999.0.0", "2025-11-25"]:
            with subtests.test(revision=revision):
                message = Message(1, "server/discover", {"_meta": {PROTOCOL_VERSION_KEY: revision}})
                headers = revision_headers(revision, **{"Mcp-Method": "server/discover"})
                exc = self.refusal(UnsupportedProtocolVersion, message, headers)
                assert exc.data == {"supported": list(REVISIONS), "requested": revision}

    def test_without_headers_the_body_is_not_compared(self, stateless_request):
        message, _ = stateless_request("tools/call", name="orders_list")
        self.era.validate(message, None, NAMES)

    def test_without_headers_the_capabilities_are_required(self):
        self.refusal(InvalidParams, Message(1, "tools/list", {"_meta": VERSION_META}), None)

    def test_without_headers_an_unknown_revision_is_refused(self):
        message = Message(1, "tools/list", {"_meta": {PROTOCOL_VERSION_KEY: "v999"}})
        self.refusal(UnsupportedProtocolVersion, message, None)

    def test_a_notification_needs_no_meta(self):
        message = Message(None, "notifications/cancelled")
        self.era.validate(message, revision_headers(STATELESS_REVISION), NAMES)

    def test_a_notification_with_an_unknown_revision_is_refused(self):
        meta = {PROTOCOL_VERSION_KEY: "v999"}
        message = Message(None, "notifications/cancelled", {"_meta": meta})
        self.refusal(UnsupportedProtocolVersion, message, revision_headers("v999"))


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

    def test_the_handshake_era_adds_nothing(self, subtests):
        """It also removes the cache scope."""
        for revision in HANDSHAKE_REVISIONS:
            for method in ["initialize", "ping", "tools/list"]:
                with subtests.test(revision=revision, method=method):
                    given = {
                        name: value
                        for name, value in RESULTS[method].items()
                        if name != "cacheScope"
                    }
                    assert finish(revision, method, RESULTS[method]) == given

    def test_the_meta_of_a_result_is_kept(self, subtests):
        for revision in REVISIONS:
            with subtests.test(revision=revision):
                given = {**RESULTS["tools/call"], "_meta": {"a": 1}}
                finished = finish(revision, "tools/call", given)
                assert finished["_meta"]["a"] == 1
                assert given["_meta"] == {"a": 1}

    def test_results_that_a_client_may_cache_have_a_time_to_live(self, subtests):
        """The scope is private by default."""
        for method in ["server/discover", "tools/list"]:
            with subtests.test(method=method):
                finished = finish(STATELESS_REVISION, method, RESULTS[method])
                expected = RESULTS[method].get("cacheScope", "private")
                assert (finished["ttlMs"], finished["cacheScope"]) == (60_000, expected)

    def test_a_call_may_not_be_cached(self):
        given = {**RESULTS["tools/call"], "cacheScope": "public"}
        finished = finish(STATELESS_REVISION, "tools/call", given)
        assert not finished.keys() & {"ttlMs", "cacheScope"}


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
