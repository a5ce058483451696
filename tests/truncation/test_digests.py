"""The lead digester: limits of the contract, locators, languages and kinds of text."""

from __future__ import annotations

import base64
import hashlib
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drf_mcp.dispatch.content import encode_data
from drf_mcp.envelopes import DigestPayload, validate_payload_dict, verify_payload
from drf_mcp.truncation import Condensed, Digester, Evidence, LeadDigester, canonical_text
from drf_mcp.truncation.digests import shrink_digest
from drf_mcp.truncation.rows import is_digest
from drf_mcp.truncation.tokens import count_tokens

ENGLISH = (
    "The harbour opened in 1892. Ships brought coal, timber and grain. In 1931 a storm broke the "
    "northern mole, and coal was landed at Easton instead. The mole was rebuilt in 1934. Today "
    "ferries leave for the islands every morning. Visitors like the lighthouse museum. "
) * 4
LANGUAGES = {
    "English": (ENGLISH, "storm mole"),
    "German": ("Der Hafen wurde 1892 eröffnet. Ein Sturm zerstörte die Mole. " * 20, "Sturm"),
    "Russian": ("Порт открылся в 1892 году. Шторм разрушил мол. " * 20, "шторм"),
    "Arabic": ("افتتح الميناء عام ١٨٩٢. دمرت العاصفة الرصيف. هل أعيد بناؤه؟ " * 20, "العاصفة"),
    "Hebrew": ("הנמל נפתח בשנת 1892. הסערה הרסה את המזח. " * 20, "הסערה"),
    "Chinese": ("港口于1892年开放。风暴摧毁了北防波堤。渡轮每天早上开往群岛。" * 20, "风暴"),
    "Japanese": ("港は1892年に開港した。嵐が北の防波堤を壊した。" * 20, "防波堤"),
    "Korean": ("항구는 1892년에 열렸다. 폭풍이 방파제를 부쉈다. " * 20, "폭풍이"),
    "Thai": ("ท่าเรือเปิดในปี 1892 พายุทำลายเขื่อนกันคลื่น\n" * 20, "พายุ"),
    "Hindi": ("बंदरगाह 1892 में खुला। तूफ़ान ने घाट तोड़ दिया। " * 20, "तूफ़ान"),
    "Vietnamese": ("Cảng mở cửa năm 1892. Cơn bão phá vỡ đê chắn sóng. " * 20, "bão"),
}
pieces = st.sampled_from(
    [
        *ENGLISH.split()[:20],
        "\n",
        "\r\n",
        "# Head\n",
        "**bold**",
        "[a](b)",
        "<p>",
        "</p>",
        "<b>x</b>",
    ]
)
# Text, Markdown, HTML and half a surrogate pair, mixed.
texts = st.builds("".join, st.lists(pieces | st.characters(), max_size=200)) | st.text()


def digest(text: str, query: str = "") -> DigestPayload:
    """Return a digest that is valid by the contract."""
    return validate_payload_dict(LeadDigester().digest(text, query))


@given(text=texts, query=st.text(max_size=20))
def test_the_digest_of_any_text_is_valid_and_its_locators_verify(text, query):
    payload = digest(text, query)
    assert verify_payload(payload, canonical_text(text))
    assert payload.original_chars == len(text)


def test_evidence_matches_the_query_in_any_language():
    for language, (text, query) in LANGUAGES.items():
        payload = digest(text, query)
        first = payload.evidence_snippets[0]
        assert query.casefold().split()[0] in first.text.casefold(), language
        assert first.relevance_score > 0.5, language
        assert verify_payload(payload, canonical_text(text)), language


def test_the_summary_is_the_beginning_in_whole_sentences():
    summary = digest(ENGLISH * 3).summary
    assert (ENGLISH * 3).startswith(summary)
    assert summary.endswith(".")
    assert 1800 < len(summary) <= 2000


PROSE = "\n\n".join(
    f"## Part {n}\n\nThis is what part {n} says first. {'It goes on for a while. ' * 12}"
    for n in range(20)
)
TABLE = "id,name,city\n" + "".join(f"{n},Ann {n},Uppsala\n" for n in range(900))
JSON = json.dumps({"orders": [{"id": n, "total": n / 7} for n in range(400)], "count": 400})
LOG = "".join(
    f"2026-11-22 05:{n % 60:02d}:00 {'INFO fine' if n % 50 else 'ERROR no route to host'} {n}\n"
    for n in range(1, 400)
)
CODE = "import os\n\n" + "".join(
    f"def part_{n}(value: int) -> int:\n    total = value * {n}\n    return total\n\n\n"
    for n in range(99)
)
PNG = base64.b64encode(b"\x89PNG\r\n" + bytes(range(256)) * 40).decode()
KINDS = {
    "prose": (PROSE, "This is what part 19 says first.", "Part 7"),
    "CSV": (TABLE, "id,name,city", "Table with the columns id,name,city"),
    "JSON": (JSON, '{"orders"', "JSON with the keys orders, id, total"),
    "log": (LOG, "2026-11-22 05:01:00 INFO fine 1", "ERROR no route to host"),
    "code": (CODE, "import os", "def part_60(value: int) -> int:"),
}


def test_the_key_points_depend_on_the_kind_of_text():
    for kind, (text, beginning, point) in KINDS.items():
        payload = digest(text)
        assert payload.summary.startswith(beginning) or beginning in text, kind
        assert point in "\n".join(payload.key_points), kind
        assert verify_payload(payload, canonical_text(text)), kind


def test_a_file_of_code_with_headings_in_its_comments_is_digested_as_code():
    code = CODE.replace("def part_7(", "# --- Seven ---\n\ndef part_7(")
    code = f'"""\nparts\n~~~~~\n\nUsage\n-----\n"""\n# Numbers\n\n{code}\n# The end\n\ngo()\n'
    assert "def part_60(value: int) -> int:" in "\n".join(digest(code).key_points)


def test_a_document_with_code_has_the_words_around_the_code():
    code = "class A:\n    pass\nclass B:\n    pass\ndef c():\n    pass\n" * 30
    said = [f"Zone {n} takes {n * 37} units, says the board.\n" for n in range(40)]
    for start, end in (("```python\n", "```\n"), ("~~~\n", "~~~\n"), ("```sh\n", "")):
        points = "\n".join(
            digest("# Guide\n\n" + "\n".join([*said, start + code + end])).key_points
        )
        assert points.count("says the board") > 20
        assert "class A" not in points


def test_the_summary_of_a_readme_has_no_addresses_of_badges():
    badge = "[![CI](https://example.com/ci.svg)](https://example.com/ci)"
    assert digest(f"# Kit\n\n{badge}\n\nDoes it.\n").summary == "Kit\n\nCI\n\nDoes it."


def test_the_digest_of_base64_is_its_length():
    for text in (PNG, f"data:image/png;base64,{PNG}"):
        payload = digest(text)
        assert payload.summary.startswith(f"Base64, {len(text)} characters")
        assert (payload.key_points, payload.evidence_snippets) == ([], [])


@pytest.mark.slow
def test_only_the_head_of_a_long_text_is_searched():
    text = ENGLISH * 200 + "The needle is here."
    assert digest(text, "needle").evidence_snippets == []
    assert digest("The needle is here. " + ENGLISH * 200, "needle").evidence_snippets


HTML = "<html><head><title>Port</title></head><body>{}</body></html>".format(
    "".join(f"<p>Berth <b>{n}</b> is {n} m deep &amp; open.</p>\n" for n in range(200))
)
MARKDOWN = "# The port\n\n" + "".join(
    f"## Berth {n}\n\nIt is **{n} m** deep; see [the chart](https://example.com/{n}).\n\n"
    for n in range(200)
)


def test_markup_is_removed_from_quotes():
    written = {HTML: "Berth 7 is 7 m deep & open.", MARKDOWN: "It is 7 m deep; see the chart."}
    for text, quoted in written.items():
        payload = digest(text, "7")
        assert quoted in [item.text for item in payload.evidence_snippets]
        assert not re.search(r"[<>#*]|&amp;|https:", payload.summary)
        assert verify_payload(payload, canonical_text(text))


def test_a_term_of_the_query_is_found_in_longer_words():
    """REST framework's search does the same. A short term is not, as too many words contain it."""
    text = ENGLISH.replace("harbour", "harbours")
    found = digest(text, "harbour").evidence_snippets
    assert found[0].relevance_score == 1.0
    assert "harbours" in found[0].text
    assert digest(text, "bou").evidence_snippets == []


def test_one_character_is_found_in_a_language_without_spaces():
    text = "港は静かだ。嵐が防波堤を壊した。船は出なかった。"
    first = digest(text, "嵐").evidence_snippets[0]
    assert (first.text, first.relevance_score) == ("嵐が防波堤を壊した。", 1.0)


def test_the_same_text_has_the_same_digest():
    assert LeadDigester().digest(ENGLISH, "mole") == LeadDigester().digest(ENGLISH, "mole")


def test_evidence_has_no_duplicates():
    quoted = [item.text for item in digest(ENGLISH, "mole").evidence_snippets]
    assert len(set(quoted)) == len(quoted) == 2


def test_the_query_hash_is_that_of_the_query():
    assert digest(ENGLISH, "mole").query_hash == hashlib.sha256(b"mole").hexdigest()[:8]


def test_the_counts_are_those_of_the_texts_of_the_digest():
    payload = digest(ENGLISH)
    read = [payload.summary, *payload.key_points]
    read += [item.text for item in payload.evidence_snippets]
    assert payload.digest_chars == sum(map(len, read))
    assert payload.compression_ratio == round(payload.digest_chars / len(ENGLISH), 4)


def test_texts_without_words_have_a_digest():
    for text in ("", " \n", "\x00\x01", "." * 5000, "a" * 5000, "\ufffd" * 3000):
        digest(text)


@pytest.mark.slow
def test_texts_made_to_be_slow_have_a_digest():
    """In time that grows with the square of the length these would not end."""
    for text in (
        "<!--" * 60_000,
        "<script" * 40_000,
        "[" * 250_000,
        "**a" * 80_000,
        "<p " * 80_000,
        "<p>" + "<header>" * 30_000 + "</head>",
        "a" + "\u0301\u0316" * 120_000,
    ):
        digest(text)


@given(text=texts, limit=st.integers(300, 2000))
def test_a_digest_shrinks_to_the_limit(text, limit):
    small = shrink_digest(LeadDigester().digest(text, "harbour"), limit)
    assert count_tokens(encode_data(small)) <= limit
    assert verify_payload(DigestPayload.from_json(small), canonical_text(text))


def test_a_summary_with_many_tokens_shrinks():
    payload = LeadDigester().digest("\U0008b4d5" * 900)
    assert count_tokens(encode_data(shrink_digest(payload, 300))) <= 300


def test_shrinking_keeps_the_best_evidence_longest():
    payload = LeadDigester().digest(ENGLISH, "mole coal harbour ships")
    small = json.loads(shrink_digest(payload, 330))
    assert small["evidence_snippets"][0] == payload["evidence_snippets"][0]
    assert len(small["evidence_snippets"]) < len(payload["evidence_snippets"])


def test_a_digest_is_recognized_and_no_other_text():
    assert is_digest(json.dumps(LeadDigester().digest(ENGLISH)))
    for text in ("", "{", '{"a":1}', '{"content_type":"digest/v1"', '["digest/v1"]'):
        assert not is_digest(text)


class Talkative(Digester):
    """Writes more than the contract allows, and quotes text that does not exist."""

    def condense(self, text: str, query: str) -> Condensed:
        return Condensed(
            summary="s" * 9000,
            key_points=["p" * 900, " "] + ["point"] * 30,
            evidence=[
                Evidence("never written"),
                Evidence(text[10:40], relevance=7),
                Evidence(text[5:25], start=99),
                Evidence(text[:900], start=0),
            ],
        )


def test_a_digester_of_the_projects_own_cannot_break_the_contract():
    payload = validate_payload_dict(Talkative().digest(ENGLISH, "q"))
    assert verify_payload(payload, canonical_text(ENGLISH))
    assert [len(item.text) for item in payload.evidence_snippets] == [30, 500]
    assert len(payload.key_points) == 10


class Scripted(Digester):
    """Returns what a test gives it."""

    def __init__(self, condensed: Condensed) -> None:
        self.condensed = condensed

    def condense(self, text: str, query: str) -> Condensed:
        return self.condensed


anything = st.builds(
    Condensed,
    st.text() | st.text(min_size=1).map(lambda text: text * 3000),
    st.lists(st.text() | st.text(min_size=1).map(lambda text: text * 600), max_size=15),
    st.lists(
        st.builds(
            Evidence,
            st.text() | st.sampled_from([ENGLISH[:30], ENGLISH[50:700], ENGLISH]),
            st.floats(allow_nan=False),
            st.none() | st.integers(-10, 2000),
        ),
        max_size=15,
    ),
)


@given(condensed=anything, text=texts | st.just(ENGLISH), query=st.text(max_size=20))
def test_the_digest_is_valid_with_any_output_of_a_digester(condensed, text, query):
    payload = validate_payload_dict(Scripted(condensed).digest(text, query))
    assert verify_payload(payload, canonical_text(text))


def test_a_digester_must_define_condense():
    with pytest.raises(NotImplementedError, match="Digester must define condense"):
        Digester().digest("text")
