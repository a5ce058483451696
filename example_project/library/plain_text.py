"""The documentation's text without its marks: what answers quote, and are held against.

Python's topics mark emphasis, number their footnotes, set terms above what explains them, break
words at the end of a line and refer to sections that no answer has.
"""

from __future__ import annotations

import re

# A list of what else to read, which says half sentences about it.
READING = re.compile(r"^( *)See also:.*(?:\n+\1 +.*)*", re.MULTILINE)
# A heading whose text begins as if the heading were its first words.
HEADING = re.compile(
    r"^( *(\S.*)\n *([=*\-~^#])\3{2,}\n\n) *(?=(?:This|These|It|They)\b)", re.MULTILINE
)
LIST_MARK = r"(?:[*•-]|\d+\.|\[\d+\])\s+"
# A line above deeper ones that explain it. Without an end of its own, an empty line may follow.
TERM = re.compile(
    rf"(?:\A|(?<=\n\n))( *)(?!{LIST_MARK}|>>>)(\S.*?):?(?:(?<![.:,;!?])\n)?\n(?=\1 +[A-Z\"“(])"
)
LITERAL = r'(?:"""|"[^"]*")'
EMPHASIS = re.compile(
    rf'{LITERAL}|(?<![\w*])(\*\*?)(?=[\w“"])((?:{LITERAL}|[^*"])+)(?<=\S)\1(?!\*)'
)
# Each with what takes its place, in this order.
MARKS = [
    (re.compile(rf"\A\s*{LIST_MARK}"), ""),
    (re.compile(r"(?<=\w)-\n\s*(?=\w)"), "-"),
    # A literal in quotation marks has its own.
    (re.compile(r"[“\"](\"[^\"\s][^\"]*\")[”\"]"), r"\1"),
    (EMPHASIS, lambda match: match[2] or match[0]),
    # The number of a footnote.
    (re.compile(r"(?<=\.)\s+\[\d+\]\.|(?<=\S)\s+\[\d+\](?!\w)"), ""),
    # What to see elsewhere.
    (re.compile(r"\s*\((?:for details )?see\s[^()]*(?:\(\)[^()]*)*\)"), ""),
    (re.compile(rf'\s*[;\u2013\u2014] (?:please )?see\s(?:{LITERAL}|[^".;()])*(?=\.)'), ""),
]


def plain(text: str) -> str:
    """A document without marks, in its own paragraphs and lines."""
    explained = TERM.sub(r"\1\2: ", HEADING.sub(r"\1\2: ", READING.sub("", text)))
    return "\n\n".join(map(plain_paragraph, re.split(r"\n\s*\n", explained)))


def plain_paragraph(paragraph: str) -> str:
    """A paragraph without marks."""
    for mark, instead in MARKS:
        paragraph = mark.sub(instead, paragraph)
    return paragraph
