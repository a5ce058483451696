"""The rows of a list are encoded once for several envelopes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from drf_mcp.json_text import encode_plain
from drf_mcp.tools.results import RowsEncoder

scalars = st.none() | st.booleans() | st.integers() | st.text()
plain = scalars | st.lists(scalars, max_size=3) | st.dictionaries(st.text(), scalars, max_size=3)
rows = st.lists(plain, min_size=3, max_size=7)
around = st.dictionaries(st.text(), plain | rows, max_size=3)


@given(rows, around, around)
def test_an_envelope_with_rows_is_encoded_like_any_value(rows, first, second):
    encode = RowsEncoder(encode_plain).encode
    for value in (
        {**first, "data": rows},
        {**second, "data": {**first, "results": rows}, "meta": second},
        rows,
        first,
    ):
        assert encode(value) == encode_plain(value)


def test_the_rows_are_encoded_once():
    written = []

    def write(value):
        written.append(value)
        return encode_plain(value)

    rows = [{"id": number} for number in range(9)]
    encode = RowsEncoder(write).encode
    encode({"data": {"results": rows}, "meta": {"id": "a"}})
    encode({"data": {"results": rows}, "meta": {"id": "b"}})
    assert [value is rows for value in written].count(True) == 1
    assert len(written) == 3
