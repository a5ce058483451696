"""The canonical form of a text, to which the hash and the locators of a digest refer."""

from __future__ import annotations

import html
import re
import string
import unicodedata

from drf_mcp.json_text import to_bytes

CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ufeff]")
NEWLINES = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
SPACES = re.compile(r"[^\S\n]+")
LINE_EDGES = re.compile(r" ?\n ?")
MARKS = re.compile(r"[^\w\s]{65,}")
BLANK_LINES = re.compile(r"\n{3,}")

HTML = re.compile(
    r"<(?:!doctype html|/?(?:html|body|div|p|br|h[1-6]|ul|ol|li|table|span|article|section|a|b|em|"
    r"strong|i|pre|blockquote)(?:\s[^<>]{0,1000})?/?)>",
    re.IGNORECASE,
)
# Bounded, here and below, so that unclosed tags and links cost no more than other text.
TAG = re.compile(r"</?([a-zA-Z][a-zA-Z0-9]*)(?:[\s/][^<>]{0,4000})?>|<![a-zA-Z][^<>]{0,1000}>")
INLINE_TAG = re.compile(
    r"a|abbr|b|bd[io]|cite|code|data|dfn|em|font|i|kbd|mark|q|s|samp|small|span|strong|su[bp]|time"
    r"|u|var|wbr",
    re.IGNORECASE,
)
# str.lower changes the length of some letters.
LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
UNSEEN = ("script", "style", "template", "head")

MARKDOWN = re.compile(r"^#{1,6} \S|^(?:```|~~~)|\*\*\S|\]\(\S", re.MULTILINE)
FENCES = re.compile(r"^ {0,3}(?:`{3,}|~{3,})[^\n`]*$", re.MULTILINE)
LINE_MARKS = re.compile(r"^ {0,3}(?:#{1,6} +|(?:> ?)+)", re.MULTILINE)
LINKS = re.compile(r"!?\[([^\[\]\n]{0,500})\]\([^()\s]{0,2000}(?: \"[^\"\n]{0,200}\")?\)")
STRONG = re.compile(r"\*\*(?=\S)([^*\n]{1,1000})(?<=\S)\*\*")
CODE = re.compile(r"`([^`\n]{1,1000})`")


def canonical_text(text: str) -> str:
    """Return a text in canonical form.

    In this order:

    1. Newlines of every kind become line feeds; byte order marks and control characters
       but tabs go; half a surrogate pair becomes U+FFFD.
    2. HTML, recognised by a common tag, loses comments, its tags, and the contents of
       ``script``, ``style``, ``template`` and ``head``: an inline tag (``a``, ``b``,
       ``span``, ...) leaves nothing, every other tag a line feed. Then character
       references are resolved.
    3. Markdown, recognised by a heading, a fence, ``**`` or a link, loses fences, the
       marks of headings and quotations, strong emphasis and backticks; a link or an
       image leaves its text.
    4. Unicode normalisation form C; what has more than 64 characters in a row that are
       neither letters, digits nor spaces, such as marks upon marks, stays as it is.
    5. Spaces of every kind in a row become one space, none at either end of a line, and
       no more than one line in a row is empty. The text starts and ends with a
       character that is not a space.
    """
    text = to_bytes(CONTROLS.sub("", NEWLINES.sub("\n", text))).decode()
    if HTML.search(text):
        text = remove_between(text, "<!--", "-->")
        for name in UNSEEN:
            text = remove_between(text, f"<{name}", f"</{name}")
        text = TAG.sub(lambda tag: "" if INLINE_TAG.fullmatch(tag[1] or "") else "\n", text)
        text = html.unescape(text).replace("\r", "\n")
    if MARKDOWN.search(text):
        text = LINKS.sub(r"\1", LINE_MARKS.sub("", FENCES.sub("", text)))
        text = CODE.sub(r"\1", STRONG.sub(r"\1", text))
    # Sorting an endless run of marks would take the square of its length.
    pieces, position = [], 0
    for run in MARKS.finditer(text):
        pieces += [unicodedata.normalize("NFC", text[position : run.start()]), run[0]]
        position = run.end()
    text = "".join([*pieces, unicodedata.normalize("NFC", text[position:])])
    text = LINE_EDGES.sub("\n", SPACES.sub(" ", text))
    return BLANK_LINES.sub("\n\n", text).strip()


def remove_between(text: str, opening: str, closing: str) -> str:
    """Return text without the elements, or the comments, between two marks in lower case.

    An element that is never closed stays.
    """
    searched = text.translate(LOWER)
    is_comment = closing == "-->"
    kept, position, start = [], 0, searched.find(opening)
    while start >= 0:
        behind = searched[start + len(opening) : start + len(opening) + 1]
        # ``<head`` does not open ``<header>``.
        if is_comment or not (behind.isalnum() or behind == "-"):
            end = searched.find(closing, start)
            if end < 0:
                break
            kept.append(text[position:start])
            position = end + len(closing) if is_comment else searched.find(">", end) + 1
            position = position or len(text)
            start = position - 1
        start = searched.find(opening, start + 1)
    return "".join([*kept, text[position:]])
