"""The Bearer challenge: any parameters give one well-formed header."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from mcp.client.auth.utils import extract_field_from_www_auth

from drf_mcp.access.resources import BearerChallenge

NAMES = st.sampled_from(["scope", "error", "error_description", "resource_metadata", "realm"])
# A header as in RFC 9110, with quoted strings that need no escapes.
HEADER = re.compile(r'Bearer( [a-z_]+="[ !#-\[\]-~]*"(, [a-z_]+="[ !#-\[\]-~]*")*)?')


@given(st.dictionaries(NAMES, st.text()))
def test_any_parameters_give_a_well_formed_header(parameters):
    assert HEADER.fullmatch(str(BearerChallenge(parameters)))


def test_the_official_client_reads_a_text_that_had_quotes():
    from httpx2 import Response

    text = str(BearerChallenge({"error_description": 'No "orders" for you', "scope": "a b"}))
    response = Response(401, headers={"WWW-Authenticate": text})
    assert extract_field_from_www_auth(response, "error_description") == "No 'orders' for you"
    assert extract_field_from_www_auth(response, "scope") == "a b"
