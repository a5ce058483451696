"""The Bearer challenge: whatever goes in, one well-formed header comes out."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from mcp.client.auth.utils import extract_field_from_www_auth

from drf_mcp.access.resources import BearerChallenge

NAMES = st.sampled_from(["scope", "error", "error_description", "resource_metadata", "realm"])
# RFC 9110: a token, and a quoted string that needs no escapes.
HEADER = re.compile(r'Bearer( [a-z_]+="[ !#-\[\]-~]*"(, [a-z_]+="[ !#-\[\]-~]*")*)?')


@given(st.dictionaries(NAMES, st.text()))
def test_a_header_is_well_formed_whatever_its_values(parameters):
    assert HEADER.fullmatch(str(BearerChallenge(parameters)))


@given(st.dictionaries(NAMES, st.text()))
def test_a_header_is_read_back_as_it_was_written(parameters):
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
def test_any_header_is_read_or_left_alone(header):
    read = BearerChallenge.parse(header)
    assert read is None or header[:6].lower() == "bearer"


@given(st.dictionaries(NAMES, st.text(), min_size=1))
def test_no_value_begins_a_line_of_its_own(parameters):
    assert "\n" not in str(BearerChallenge(parameters))
    assert "\r" not in str(BearerChallenge(parameters))


def test_a_challenge_of_an_authentication_class_is_read(subtests):
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


def test_a_text_of_another_alphabet_is_left_out():
    challenge = BearerChallenge({"error": "invalid_token", "error_description": "Ключ истёк."})
    assert str(challenge) == 'Bearer error="invalid_token"'


def test_the_official_client_reads_a_text_that_had_quotes():
    from httpx2 import Response

    text = str(BearerChallenge({"error_description": 'No "orders" for you', "scope": "a b"}))
    response = Response(401, headers={"WWW-Authenticate": text})
    assert extract_field_from_www_auth(response, "error_description") == "No 'orders' for you"
    assert extract_field_from_www_auth(response, "scope") == "a b"
