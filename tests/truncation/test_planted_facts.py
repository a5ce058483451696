"""A digest has more of a text's planted facts than the beginning and end of the text have.

Each text is noise with facts in it. The beginning and the end together are as long as the digest.
"""

from __future__ import annotations

import functools
import itertools
import json
import random
import re
import textwrap
from collections.abc import Callable

import pytest

from drf_mcp.truncation import LeadDigester, canonical_text
from drf_mcp.truncation.digests import shrink_digest

NOISE = re.findall(
    r"\w+",
    "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut "
    "labore et dolore magna aliqua enim ad minim veniam quis nostrud ullamco laboris nisi aliquip",
)
Planted = tuple[str, list[str]]


def say(chance: random.Random, sentences: int = 1) -> str:
    lengths = [chance.randint(6, 18) for _ in range(sentences)]
    return " ".join(" ".join(chance.choices(NOISE, k=n)).capitalize() + "." for n in lengths)


def make_prose(chance: random.Random) -> Planted:
    facts = [
        *(f"Unit B{number} failed after {chance.randint(100, 900)} hours." for number in range(7)),
        "The inspector found no cracks.",
        "Nothing was insured.",
        "Doctor Okafor would replace the seals.",
    ]
    paragraphs = [say(chance, 6) for _ in range(30)]
    for place, fact in zip(chance.sample(range(30), len(facts)), facts, strict=True):
        paragraphs[place] += f" {fact} {say(chance, 2)}"
    return "\n\n".join(textwrap.fill(each, 72) for each in paragraphs), facts


def make_headings(chance: random.Random) -> Planted:
    facts = [f"Set the valve of {word} to {n + 3} bar." for n, word in enumerate(NOISE[:14])]
    parts = [f"### Part {n} of it\n\n{f}\n\n{say(chance, 8)}" for n, f in enumerate(facts)]
    return "\n\n".join(parts), facts


def make_html(chance: random.Random) -> Planted:
    facts = [f"Agnes paid {n + 40} pounds for {word}." for n, word in enumerate(NOISE[:9])]
    body = "".join(f"<p>{say(chance, 12)} <em>{f}</em> {say(chance, 12)}</p>" for f in facts)
    menu = "".join(f"<li><a href='/{word}'>{word}</a></li>" for word in NOISE)
    page = f"<body><ul>{menu}</ul><h1>What it cost</h1>{body}<footer>{menu}</footer></body>"
    return f"<html><head><style>a {{}}</style></head>{page}</html>", facts


def make_log(chance: random.Random) -> Planted:
    bad = {
        50: "ERROR sshd: too many attempts for root",
        180: "WARNING disk: the volume is 91% full",
        377: "ERROR worker: job 5512 failed\nTraceback (most recent call last):\n"
        + '  File "/srv/app.py", line 7, in run\n    take()\n' * 9
        + "KeyError: 'vat_rate'",
    }
    lines = [
        f"2026-03-01 {n // 60:02d}:{n % 60:02d}:00 {bad.get(n) or f'INFO {say(chance)}'}"
        for n in range(420)
    ]
    return "\n".join(lines), [
        *("too many attempts", "91% full", "job 5512 failed", "KeyError: 'vat_rate'")
    ]


def make_rows(chance: random.Random) -> Planted:
    rows = [
        [7000 + n, "IS" if n == 555 else chance.choice(["DE", "FR"]), -12 if n == 222 else n % 90]
        for n in range(800)
    ]
    text = "\n".join(["number;country;amount", *(";".join(map(str, row)) for row in rows)])
    return text, ["number;country;amount", "800", "IS", "-12", "7799"]


def make_json(chance: random.Random) -> Planted:
    rows = [{"sku": f"A{n}", "stock": n % 90, "note": say(chance)} for n in range(160)]
    rows[61] = {**rows[61], "blocked_reason": "fraud suspected"}
    value = {"source": "ledger-eu", "results": rows, "as_of": "2026-04-01", "total": 183220.5}
    return json.dumps(value), [
        *("ledger-eu", "2026-04-01", "183220.5", "sku", "stock", "fraud suspected")
    ]


def make_code(chance: random.Random) -> Planted:
    names = [f"{word}_{n}" for n, word in enumerate(NOISE[:12])]
    body = "".join(f"    value = other * {n}\n    print(value)\n" for n in range(14))
    parts = [f'def {n}(other: int) -> None:\n    """Do {n} once."""\n{body}\n\n' for n in names]
    text = "import os\n\nMAX_RETRIES = 7\n\n\n" + "".join(parts)
    return text, ["MAX_RETRIES = 7", *(f"def {name}" for name in names)]


def make_readme(chance: random.Random, fence: str = "```", indent: str = "") -> Planted:
    """A section each with what it is for, sentences, and more lines of code than of text."""
    facts = [f"{word.capitalize()} needs {n + 3} workers." for n, word in enumerate(NOISE[:14])]
    facts[9] = f"{say(chance)} {facts[9]}"
    parts = ["# ledgerkit\n\n[![CI](https://example.com/ci.svg)](https://example.com/ci)\n"]
    for n, fact in enumerate(facts):
        code = "".join(
            f"class Part{k}(Base):\n    def run(self):\n        pass\n" for k in range(5)
        )
        code = f"{fence}python\n{code}{fence}" if fence else textwrap.indent(code, indent)
        parts.append(f"## {NOISE[n]} {n}\n\n{fact} {say(chance, 2)}\n\n{code}\n")
    return "\n".join(parts), [fact.rpartition(". ")[2] for fact in facts]


CHANGELOGS = {
    "Markdown": "## [{v}] - 2026-{m:02d}-11\n\n### Fixed\n\n- {first}\n{more}\n",
    "dated": "## 2026-{m:02d}-11\n\n- {first}\n{more}\n",
    "single": "2026-{m:02d}-11\n- {first}\n\n",
    "underlined": "{v} (2026-{m:02d}-11)\n------------------\n\n* {first}\n{more}\n",
    "GNU": "2026-{m:02d}-11  Ann Lee  <ann@example.com>\n\n\t* main.c: {first}\n{more}\n",
    "plain": "Version {v}\n\n* {first}\n{more}\n",
}


def make_changelog(chance: random.Random, form: str = "Markdown") -> Planted:
    facts = [f"{word.capitalize()} {n + 30} no longer leaks" for n, word in enumerate(NOISE[:16])]
    parts = []
    for n, fact in enumerate(facts):
        more = "".join(f"* def {say(chance).lower()}\n" for _ in range(5))
        parts.append(form.format(v=f"3.{16 - n}.0", m=n % 12 + 1, first=fact, more=more))
    return "Changelog\n=========\n\n" + "\n".join(parts), facts


KINDS: dict[str, Callable[[random.Random], Planted]] = {
    "prose": make_prose,
    "headings": make_headings,
    "HTML": make_html,
    "log": make_log,
    "CSV": make_rows,
    "JSON": make_json,
    "code": make_code,
    "README": make_readme,
    "README ~~~": functools.partial(make_readme, fence="~~~"),
    "README indented": functools.partial(make_readme, fence="", indent="    "),
    **{
        f"changelog {kind}": functools.partial(make_changelog, form=form)
        for kind, form in CHANGELOGS.items()
    },
}


def count(facts: list[str], text: str) -> int:
    words = " ".join(text.split())
    return sum(fact in words for fact in facts)


@pytest.mark.slow
def test_a_digest_has_more_facts_than_the_ends_of_the_text():
    """Both in full length and shrunk."""
    poor = {}
    for (kind, make), seed in itertools.product(KINDS.items(), (11, 12)):
        text, facts = make(random.Random(seed))
        texts, whole = (text, canonical_text(text)), LeadDigester().digest(text)
        for room in (None, 1500, 700):
            digest = whole if room is None else json.loads(shrink_digest(whole, room))
            held = "\n".join([digest["summary"], *digest["key_points"]])
            half = len(held) // 2
            ends = max(count(facts, f"{each[:half]}\n{each[-half:]}") for each in texts)
            if count(facts, held) <= ends:
                poor[kind, seed, room] = count(facts, held), ends
    assert not poor
