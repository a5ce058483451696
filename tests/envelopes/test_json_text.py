"""JSON pointers, canonical hashes and compact JSON."""

from __future__ import annotations

import hashlib
import json

from hypothesis import example, given
from hypothesis import strategies as st

from drf_mcp.dispatch.content import encode_data
from drf_mcp.json_text import JSONPointer, content_hash, encode_plain

NAMES = st.lists(st.text() | st.text(alphabet="~/01a"))
PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(NAMES)
@example(["~1", "a/b", "", "~0~"])
def test_the_path_of_a_pointer_is_that_it_was_made_from(names):
    assert JSONPointer.from_path(names).path == tuple(names)


@given(st.lists(st.from_regex(r"[a-z][a-z/~]*|[0-9]+", fullmatch=True)))
@example(["lines", "0", "quantity"])
@example(["a/b", "0", "1"])
def test_a_pointer_is_read_from_its_dotted_path(names):
    pointer = JSONPointer.from_path(names)
    assert JSONPointer.from_dotted(pointer.dotted) == pointer


def test_a_pointer_is_escaped_as_in_rfc_6901():
    assert JSONPointer.from_path(["a/b", "m~n", 0]) == "/a~1b/m~0n/0"
    assert JSONPointer.from_path([]) == ""
    assert JSONPointer("").path == ()


@given(PLAIN)
def test_plain_json_is_encoded_like_by_rest_framework(value):
    assert encode_plain(value) == encode_data(value)


def test_a_hash_is_the_same_for_any_order_of_members():
    assert content_hash({"b": 1, "a": "é"}) == content_hash({"a": "é", "b": 1})


@given(PLAIN)
def test_a_hash_is_that_of_the_json_that_a_client_reads(value):
    read = json.loads(encode_data(value))
    assert content_hash(read) == content_hash(value)
    text = json.dumps(read, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert content_hash(value) == (
        "sha256-" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    )
