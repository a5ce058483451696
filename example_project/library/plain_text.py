"""The documentation's text without its markup, which answers quote.

Python's topics mark emphasis, number their footnotes, write a term above its explanation, break
words at the end of a line, and refer to sections that no answer contains.
"""

from __future__ import annotations

import re

# A list of further reading, which has no whole sentences.
READING = re.compile(r"^( *)See also:.*(?:\n+\1 +.*)*", re.MULTILINE)
# A heading that is the subject of the sentence below it.
HEADING = re.compile(
    r"^( *(\S.*)\n *([=*\-~^#])\3{2,}\n\n) *(?=(?:This|These|It|They)\b)", re.MULTILINE
)
LIST_MARK = r"(?:[*•-]|\d+\.|\[\d+\])\s+"
# A term above deeper lines that explain it. An empty line may follow a term without a full stop.
TERM = re.compile(
    rf"(?:\A|(?<=\n\n))( *)(?!{LIST_MARK}|>>>)(\S.*?):?(?:(?<![.:,;!?])\n)?\n(?=\1 +[A-Z\"“(])"
)
LITERAL = r'(?:"""|"[^"]*")'
EMPHASIS = re.compile(
    rf'{LITERAL}|(?<![\w*])(\*\*?)(?=[\w“"])((?:{LITERAL}|[^*"])+)(?<=\S)\1(?!\*)'
)
# Each mark with its replacement, in this order.
MARKS = [
    (re.compile(rf"\A\s*{LIST_MARK}"), ""),
    (re.compile(r"(?<=\w)-\n\s*(?=\w)"), "-"),
    # Quotation marks around a literal, which has its own.
    (re.compile(r"[“\"](\"[^\"\s][^\"]*\")[”\"]"), r"\1"),
    (EMPHASIS, lambda match: match[2] or match[0]),
    # The number of a footnote.
    (re.compile(r"(?<=\.)\s+\[\d+\]\.|(?<=\S)\s+\[\d+\](?!\w)"), ""),
    # A reference to another section.
    (re.compile(r"\s*\((?:for details )?see\s[^()]*(?:\(\)[^()]*)*\)"), ""),
    (re.compile(rf'\s*[;\u2013\u2014] (?:please )?see\s(?:{LITERAL}|[^".;()])*(?=\.)'), ""),
]

# A table with a line under its head, and the rows of one.
TABLE = re.compile(r"^\+[-+]+\+\n(?:\|.*\n)+\|[=|]+\|\n(?:[|+].*(?:\n|\Z))+", re.MULTILINE)
RULE = re.compile(r"^(?:\+[-+]+\+|\|[=|]+\|)$\n?", re.MULTILINE)
# A sentence that continues below lines of code.
CODE = re.compile(r"(?<=[a-z])\n\n((?: {3,}[a-z(@].*\n){1,3})\n(?=([a-z]?))")

# Methods that are explained together.
SIGNATURES = re.compile(r"(?:^object\.__\w+__\(.*\)\n){2,}", re.MULTILINE)


def plain(text: str) -> str:
    """Return a document without marks, in its own paragraphs and lines."""
    prose = CODE.sub(quote_code, TABLE.sub(render_rows, READING.sub("", text)))
    prose = SIGNATURES.sub(join_names, prose)
    explained = TERM.sub(r"\1\2: ", HEADING.sub(r"\1\2: ", prose))
    return "\n\n".join(map(plain_paragraph, re.split(r"\n\s*\n", explained)))


def plain_paragraph(paragraph: str) -> str:
    """Return a paragraph without marks."""
    for mark, instead in MARKS:
        paragraph = mark.sub(instead, paragraph)
    return paragraph


def render_rows(table: re.Match[str]) -> str:
    """Return the rows of a table as sentences, such as ``Operator ":=": Assignment expression.``"""
    head, *rows = map(read_cells, filter(None, RULE.split(table[0])))
    sentences = (
        f"{head[0]} {row[0]}: {row[1][:1].upper()}{row[1][1:].rstrip('.')}." for row in rows
    )
    return "\n\n".join(sentences) + "\n"


def read_cells(row: str) -> list[str]:
    """Return the cells of a row, which continue over several lines."""
    columns = zip(*(line.strip("|").split(" | ") for line in row.splitlines()), strict=False)
    return [" ".join(" ".join(column).split()) for column in columns]


def quote_code(code: re.Match[str]) -> str:
    """Return lines of code as a part of the sentence around them."""
    lines = ", ".join(f'"{line.strip()}"' for line in code[1].splitlines())
    return f"\n{lines}\n" if code[2] else f"\n{lines}.\n\n"


def join_names(signatures: re.Match[str]) -> str:
    """Return the names of methods in one line."""
    return ", ".join(f"{name}()" for name in re.findall(r"__\w+__", signatures[0])) + "\n"
