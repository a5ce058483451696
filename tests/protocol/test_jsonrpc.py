"""JSON-RPC messages are decoded and encoded."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types.jsonrpc import JSONRPCError, JSONRPCResponse

from drf_mcp.exceptions import InvalidRequest, ParseError, ProtocolError
from drf_mcp.protocol import jsonrpc
from drf_mcp.protocol.jsonrpc import MAX_LEVELS, ClientResponse, Encoded, Message, decode, encode

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=15,
)
ids = st.integers() | st.text()


def request(**members):
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping", **members}).encode()


def refusal(body, exception):
    with pytest.raises(exception) as caught:
        decode(body)
    return caught.value


def decode_and_check(body):
    try:
        decoded = decode(body)
    except ProtocolError as exc:
        decoded = exc
    for item in decoded if isinstance(decoded, list) else [decoded]:
        assert isinstance(item, (Message, ClientResponse, ProtocolError))
        if isinstance(item, ProtocolError):
            JSONRPCError.model_validate_json(jsonrpc.encode_error(item.id, item))


class TestInvalidMessages:
    def test_an_id_that_is_neither_string_nor_integer_is_refused(self, subtests):
        """MCP also forbids the null ids that JSON-RPC allows."""
        for id in [None, True, False, 1.5, 2.0**53 + 2, [], {}]:
            with subtests.test(id=id):
                assert refusal(request(id=id), InvalidRequest).id is None


class TestInvalidJSON:
    def test_invalid_json_is_refused(self, subtests):
        for body in [
            b"",
            b"{",
            b"{}x",
            b"\xff",
            b'{"a":"\xed\xa0\x80"}',
            '{"a":1}'.encode("utf-16"),
            b"\xef\xbb\xbf{}",
            b"{'a':1}",
            b"[1,]",
            b"[01]",
            b"[NaN]",
            b"[Infinity]",
            b"[-Infinity]",
            b"[1e999]",
            b"[-1e999]",
            b'["\n"]',
            b'["\x00"]',
            b'{"a":1,"a":1}',
            b'["\\ud800"]',
            b'["\\uDC00\\uD800"]',
            b'{"\\uDfff":1}',
        ]:
            with subtests.test(body=body):
                exc = refusal(body, ParseError)
                assert (exc.code, exc.http_status, exc.id) == (-32700, 400, None)

    def test_an_integer_of_too_many_digits_is_refused(self):
        refusal(b"[" + b"9" * 10_000 + b"]", ParseError)

    def test_a_number_too_large_for_a_float_is_refused(self):
        refusal(b"[" + b"9" * 400 + b".0]", ParseError)

    def test_duplicate_key_is_named(self):
        body = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"colour":1,"colour":2}}'
        assert '"colour"' in refusal(body, ParseError).message

    def test_an_error_about_a_lone_surrogate_has_the_id_of_the_request(self):
        """A client that cut an emoji in two learns which request failed."""
        body = b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"a":"\\ud83d"}}'
        assert refusal(body, ParseError).id == 9

    def test_lone_surrogate_in_the_id_is_not_repeated(self):
        body = b'{"jsonrpc":"2.0","id":"\\ud83d","method":"ping"}'
        assert refusal(body, ParseError).id is None


class TestDepth:
    def test_the_deepest_message_is_decoded(self):
        """The message and its params are the first two levels."""
        inner = "[" * (MAX_LEVELS - 2) + "]" * (MAX_LEVELS - 2)
        body = f'{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{inner}}}}}'
        assert isinstance(decode(body.encode()), Message)

    def test_a_message_one_level_too_deep_is_refused(self):
        inner = "[" * (MAX_LEVELS - 1) + "]" * (MAX_LEVELS - 1)
        body = f'{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{inner}}}}}'
        assert refusal(body.encode(), ParseError).id == 1

    def test_a_message_deeper_than_the_recursion_limit_is_refused(self, subtests):
        for bracket in [b"[", b'{"a":']:
            with subtests.test(bracket=bracket):
                refusal(bracket * 200_000, ParseError)

    def test_brackets_in_strings_are_not_counted(self):
        """The string also has quotes and backslashes."""
        text = '"[\\' * 1000
        assert decode(request(params={"a": text})).params == {"a": text}


class TestResult:
    @given(ids, st.dictionaries(st.text(), st.tuples(json_values, st.booleans()), max_size=5))
    def test_any_mixture_of_values_and_encoded_members_is_encoded(self, id, members):
        given = {
            name: Encoded(encode(value)) if splice else value
            for name, (value, splice) in members.items()
        }
        response = json.loads(jsonrpc.encode_result(id, given))
        assert response == {
            "jsonrpc": "2.0",
            "id": id,
            "result": {name: value for name, (value, _) in members.items()},
        }

    @given(ids, st.dictionaries(st.text(), json_values, max_size=5))
    def test_any_result_is_an_official_response(self, id, members):
        response = JSONRPCResponse.model_validate_json(jsonrpc.encode_result(id, members))
        assert response.id == id


class TestArbitraryInput:
    @given(st.binary())
    def test_any_bytes_are_decoded_or_refused(self, body):
        decode_and_check(body)

    @given(st.text(alphabet='{}[]":,\\ud8019eE.-NaIftrnl jsorpcmthi2.0'))
    def test_any_text_like_json_is_decoded_or_refused(self, text):
        decode_and_check(text.encode())

    @given(json_values)
    def test_any_json_value_is_decoded_or_refused(self, value):
        decode_and_check(encode(value))

    @given(
        st.fixed_dictionaries(
            {},
            optional={
                "jsonrpc": st.just("2.0") | json_values,
                "id": json_values,
                "method": st.text() | json_values,
                "params": st.dictionaries(st.just("_meta") | st.text(), json_values) | json_values,
                "result": json_values,
                "error": json_values,
            },
        )
    )
    def test_any_message_is_decoded_or_refused(self, value):
        decode_and_check(encode(value))
        decode_and_check(encode([value]))
