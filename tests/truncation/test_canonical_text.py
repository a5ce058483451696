"""The canonical form of a text, which hashes and locators refer to."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from drf_mcp.truncation.digests import MARKS, canonical_text

CASES = {
    "newlines": ("a\r\nb\rc\u2028d\x0be", "a\nb\nc\nd\ne"),
    "spaces": ("  a \t\u00a0 b  \n  c ", "a b\nc"),
    "empty lines": ("a\n\n\n\n b", "a\n\nb"),
    "control characters": ("\ufeffa\x00b\x1bc", "abc"),
    "composition": ("e\u0301", "é"),
    "half a surrogate pair": ("a\ud800b", "a\ufffdb"),
    "marks upon marks": ("ne\u0301e" + "\u0301\u0316" * 40, "née" + "\u0301\u0316" * 40),
    "html": ("<p>One <b>bold</b> word.</p><p>Two &amp; three</p>", "One bold word.\n\nTwo & three"),
    "html line breaks": ("one<br>two<br/>three", "one\ntwo\nthree"),
    "html unseen": (
        "<html><head><title>T</title></head>"
        "<body>a<!-- no --><script>if (a<b) c()</SCRIPT>b</body></html>",
        "ab",
    ),
    "html header is no head": ("<header>kept</header><p>x</p>", "kept\n\nx"),
    "html in capitals": ("<DIV>İstanbul</DIV><STYLE>p{}</STYLE>", "İstanbul"),
    "html attributes": ('<a href="x?a=1&b=2" title="t">link</a> end', "link end"),
    "less than is no tag": ("a < b and c > d", "a < b and c > d"),
    "angle brackets are no html": ("List<String> x = f<int>(y)", "List<String> x = f<int>(y)"),
    "markdown headings": ("# Title\n\nText **bold** and `code`.", "Title\n\nText bold and code."),
    "markdown links": ("See [the docs](https://x.y/z) or ![logo](l.png).", "See the docs or logo."),
    "markdown fences": ("```python\nx = 1\n```\n> quoted", "x = 1\n\nquoted"),
    "names with underscores": ("call __init__ and a * b * c", "call __init__ and a * b * c"),
}


def test_the_canonical_form():
    found = {name: canonical_text(text) for name, (text, _) in CASES.items()}
    assert found == {name: canonical for name, (_, canonical) in CASES.items()}


@given(st.text(st.characters()))
def test_any_text_has_a_normalized_canonical_form(text):
    canonical = canonical_text(text)
    canonical.encode()
    assert unicodedata.is_normalized("NFC", canonical) or MARKS.search(canonical)
    assert canonical == canonical.strip()
    assert "\n\n\n" not in canonical
    assert "\r" not in canonical
