"""Estimated tokens, compared with those that a tokenizer counted."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from drf_mcp.json_text import encode_plain
from drf_mcp.truncation.tokens import count_tokens, cut_text, estimate_tokens, is_within

FOLDER = Path(__file__).parent
COUNTED = json.loads((FOLDER / "token_corpus.json").read_text())


def read(name: str) -> str:
    """Return a text of the corpus."""
    return (FOLDER / "token_corpus" / name).read_text()


def test_the_estimate_is_near_the_count():
    """At most 15 % too high and at most 10 % too low for each text of the corpus."""
    assert {path.name for path in (FOLDER / "token_corpus").iterdir()} == set(COUNTED)
    shares = {name: estimate_tokens(read(name)) / tokens for name, tokens in COUNTED.items()}
    assert not {name: share for name, share in shares.items() if not 0.9 <= share <= 1.15}


def test_the_estimates_of_parts_add_up_to_that_of_the_whole():
    """The budget measures rows one by one."""
    far = {}
    for name in COUNTED:
        text = read(name)
        middle, whole = len(text) // 2, estimate_tokens(text)
        parts = estimate_tokens(text[:middle]) + estimate_tokens(text[middle:])
        if abs(parts - whole) > 5 + whole // 20:
            far[name] = parts, whole
    assert not far


def test_a_token_has_at_most_four_characters():
    assert count_tokens("a" * 4000) >= 1000
    assert count_tokens(" " * 4000) >= 1000


# Pieces that the estimate treats differently.
PIECES = (
    *(
        "a",
        "B",
        "cd",
        "accommodation",
        "  ",
        " ",
        "\n",
        "\n\n",
        "\t",
        "\r",
        "\x00",
        "1",
        "23",
        "4567",
    ),
    *(
        ":",
        "','",
        "[",
        "{}",
        "_",
        "-",
        "+/",
        ",null",
        ",true",
        "é",
        "Ł",
        "ế",
        "\u0301",
        "\u2019",
        "€",
    ),
    *(
        "\xa0",
        "д",
        "ß",
        "中",
        "。",
        "ก",
        "\u1200",
        "😀",
        "\ud800",
        "AbC1dEfGhIjKlMnOpQrStUvW",
        "f" * 40,
    ),
)


@given(st.text(), st.integers(0, 300))
def test_bytes_and_characters_decide_before_tokens_are_counted(text, limit):
    within = is_within(text, limit)
    if len(text.encode(errors="replace")) <= limit and len(text) <= 4 * limit:
        assert within
    elif len(text) > 4 * limit:
        assert not within
    else:
        assert within == (count_tokens(text) <= limit)


@given(st.text(max_size=400), st.integers(0, 100))
def test_a_text_is_cut_to_its_beginning(text, room):
    part = cut_text(text, room)
    assert text.startswith(part)
    assert not part or count_tokens(encode_plain(part)) <= room


def test_a_text_is_cut_at_the_end_of_a_word():
    assert cut_text("The harbour was opened in spring. " * 90, 100).endswith((" ", ". "))
