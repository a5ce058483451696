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


@given(st.dictionaries(NAMES, st.text()))
def test_a_parsed_header_is_written_the_same_again(parameters):
    written = str(BearerChallenge(parameters))
    read = BearerChallenge.parse(written)
    assert read is not None
    assert str(read) == written


@given(st.dictionaries(NAMES, st.text(st.characters(min_codepoint=32, max_codepoint=126))))
def test_only_quotes_and_backslashes_of_printable_text_change(parameters):
    challenge = BearerChallenge(parameters)
    read = BearerChallenge.parse(str(challenge))
    assert read is not None
    for name, text in parameters.items():
        expected = text.replace('"', "'").replace("\\", "/").strip()
        assert read.parameters.get(name, "") == expected


@given(st.text())
def test_only_a_bearer_header_is_parsed(header):
    read = BearerChallenge.parse(header)
    assert read is None or header[:6].lower() == "bearer"


def test_the_challenge_of_an_authentication_class_is_parsed(subtests):
    for header, parameters in [
        ("Bearer", {}),
        ("bearer ", {}),
        ('Bearer realm="api"', {"realm": "api"}),
        ('Bearer realm="api",error="invalid_token"', {"realm": "api", "error": "invalid_token"}),
        ("Bearer realm=api , scope = a", {"realm": "api", "scope": "a"}),
        (r'Bearer realm="a \"b\" \\c"', {"realm": r'a "b" \c'}),
        ("Token", None),
        ('Basic realm="api"', None),
        ("BearerToken", None),
        ('Bearer realm="a", Basic realm="b"', None),
    ]:
        with subtests.test(header=header, parameters=parameters):
            read = BearerChallenge.parse(header)
            assert (read and read.parameters) == parameters


def test_a_text_that_is_not_ascii_is_left_out():
    challenge = BearerChallenge({"error": "invalid_token", "error_description": "Ключ истёк."})
    assert str(challenge) == 'Bearer error="invalid_token"'


def test_the_official_client_reads_a_text_that_had_quotes():
    from httpx2 import Response

    text = str(BearerChallenge({"error_description": 'No "orders" for you', "scope": "a b"}))
    response = Response(401, headers={"WWW-Authenticate": text})
    assert extract_field_from_www_auth(response, "error_description") == "No 'orders' for you"
    assert extract_field_from_www_auth(response, "scope") == "a b"
