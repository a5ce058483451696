"""HTTP headers are compared with the body."""

from __future__ import annotations

import pytest
from django.http.request import HttpHeaders
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.inbound import encode_header_value

from drf_mcp.exceptions import HeaderMismatch
from drf_mcp.protocol import select_by_headers
from drf_mcp.protocol.eras import decode_header, read_header
from drf_mcp.protocol.jsonrpc import Message

REVISION = "2026-07-28"
NAMES = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def http_headers(**values):
    return HttpHeaders({f"HTTP_{name.upper()}": value for name, value in values.items()})


def check(message, **values):
    era = select_by_headers({"MCP-Protocol-Version": REVISION})
    repeated = {"Mcp_Protocol_Version": REVISION, "Mcp_Method": message.method, **values}
    headers = http_headers(**{name: value for name, value in repeated.items() if value is not None})
    era.check_headers(headers, message, REVISION, NAMES.get(message.method))


def read_mismatch(message, **values):
    with pytest.raises(HeaderMismatch) as caught:
        check(message, **values)
    assert (caught.value.code, caught.value.http_status) == (-32020, 400)
    return caught.value.message


def decode(value):
    return decode_header(read_header({"Mcp-Name": value}, "Mcp-Name"))


class TestDecodeValue:
    @pytest.mark.parametrize(
        ("value", "decoded"),
        [
            ("us-west1", "us-west1"),
            ("=?base64?SGVsbG8sIOS4lueVjA==?=", "Hello, 世界"),
            ("=?base64?IHBhZGRlZCA=?=", " padded "),
            ("=?base64?bGluZTEKbGluZTI=?=", "line1\nline2"),
            ("=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", "=?base64?literal?="),
            ("  =?base64?SGVsbG8=?=\t", "Hello"),
            ("=?base64??=", ""),
        ],
    )
    def test_the_examples_of_the_specification_are_decoded(self, value, decoded):
        assert decode(value) == decoded

    @pytest.mark.parametrize(
        "value",
        ["SGVsbG8=", "=?base64?SGVsbG8=", "SGVsbG8=?=", "=?BASE64?SGVsbG8=?=", "=?base64?="],
    )
    def test_a_value_without_the_exact_markers_is_not_decoded(self, value):
        assert decode(value) == value

    def test_a_value_that_is_not_base64_of_utf8_is_refused(self, subtests):
        """The padding, the alphabet, the last bits or the encoding of the text is wrong."""
        for payload in [
            "SGVsbG8",
            "SGVs!!!bG8=",
            "SGVsbG8==",
            "SGVsbG9=",
            "SGVs bG8=",
            "_-8=",
            "/w==",
            "7aCA",
            "=",
        ]:
            with subtests.test(payload=payload), pytest.raises(HeaderMismatch):
                decode(f"=?base64?{payload}?=")

    @given(st.text())
    def test_the_output_of_the_official_encoder_is_decoded(self, text):
        assert decode(encode_header_value(text)) == text

    @given(st.text())
    def test_any_value_is_decoded_or_refused(self, value):
        """A value without the markers is its own text."""
        try:
            decoded = decode(value)
        except HeaderMismatch:
            return
        assert decoded == value.strip(" \t") or value.strip(" \t").startswith("=?base64?")


CALL = Message(1, "tools/call", {"name": "orders_list"})
READ = Message(1, "resources/read", {"uri": "file:///a", "name": "b"})
CANCELLED = Message(None, "notifications/cancelled")


class TestCheck:
    """``check`` repeats the revision and the method in the headers unless a test passes others."""

    def test_headers_that_repeat_the_body_are_accepted(self, subtests):
        for message, headers in [
            (CALL, {"Mcp_Name": " orders_list "}),
            (CALL, {"Mcp_Name": "=?base64?b3JkZXJzX2xpc3Q=?="}),
            (READ, {"Mcp_Name": "file:///a"}),
            # Only these methods need a name. The method itself refuses a call without a name.
            (Message(1, "tools/list"), {}),
            (Message(1, "tools/call"), {}),
            (CANCELLED, {"Mcp_Method": None}),
        ]:
            with subtests.test(message=message, headers=headers):
                check(message, **headers)

    def test_headers_that_differ_from_the_body_are_refused(self, subtests):
        """The error message names the header, and both values if the header has a value."""
        for message, headers, named in [
            (CALL, {"Mcp_Protocol_Version": None, "Mcp_Name": "orders_list"}, "MCP-Protocol-Ver"),
            (CALL, {"Mcp_Method": None, "Mcp_Name": "orders_list"}, "Mcp-Method"),
            (CALL, {}, "Mcp-Name"),
            (CALL, {"Mcp_Name": "x"}, "'x' does not match body value 'orders_list'"),
            # Only the header of a name may be in the encoded form.
            (Message(1, "ping"), {"Mcp_Method": "=?base64?cGluZw==?="}, "Mcp-Method"),
            (Message(1, "prompts/get", {"name": "a"}), {"Mcp_Name": "b"}, "Mcp-Name"),
            (Message(1, "tools/call", {}), {"Mcp_Name": "1"}, "Mcp-Name"),
            (Message(1, "tools/call", {"name": 1}), {"Mcp_Name": "1"}, "Mcp-Name"),
            (
                CALL,
                {"Mcp_Method": "TOOLS/CALL"},
                "Header mismatch: Mcp-Method header value 'TOOLS/CALL' "
                "does not match body value 'tools/call'",
            ),
        ]:
            with subtests.test(message=message, headers=headers, named=named):
                assert named in read_mismatch(message, **headers)
