"""A recording as an animated SVG, which browsers play without a script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from docs.pictures.terminal import COLUMNS, PROMPT, ROWS, Scene

FONT_SIZE, LINE, CHARACTER = 14, 19, 8.43
MARGIN, BAR = 18, 36
WIDTH = round(COLUMNS * CHARACTER + 2 * MARGIN)
HEIGHT = ROWS * LINE + BAR + MARGIN
COLOUR = re.compile(r"\x1b\[([\d;]*)m")
# What a terminal's colours look like here, by their number.
PALETTE = {
    "31": "#ff7b72",
    "32": "#7ee787",
    "33": "#e3b341",
    "34": "#79c0ff",
    "35": "#d2a8ff",
    "36": "#56d4dd",
}
STYLE = """
text { font: %dpx ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  fill: #d8dee4; white-space: pre; }
.prompt { fill: #7ee787; }
.bold { font-weight: 700; }
.cover { opacity: 0; }
"""
# Without motion the last answer stands there.
STILL = """
@media (prefers-reduced-motion: reduce) {
  * { animation: none !important; }
}
"""
FRAME = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" \
height="{height}" role="img" aria-label="{label}">
<style>{style}</style>
<rect width="{width}" height="{height}" rx="10" fill="#0d1117"/>
<circle cx="20" cy="18" r="6" fill="#ff5f57"/><circle cx="40" cy="18" r="6" fill="#febc2e"/>\
<circle cx="60" cy="18" r="6" fill="#28c840"/>
<svg x="{margin}" y="{bar}" width="{inner}" height="{rows}">
<g class="tape">
{scenes}
</g>
</svg>
</svg>
"""


@dataclass(frozen=True)
class Stretch:
    """A scene on the tape of all that the terminal ever shows.

    Attributes:
        scene: the scene.
        at: its place among the scenes.
        top: the row of its command.
        answer: the rows of its answer, each a list of runs.
    """

    scene: Scene
    at: int
    top: int
    answer: list[list[tuple[str, str]]]

    @property
    def bottom(self) -> int:
        """The row below its answer, where the next prompt stands."""
        return self.top + 1 + len(self.answer)

    @property
    def shift(self) -> str:
        """The rule that scrolls the tape until the next prompt is the last row."""
        rows = max(self.bottom + 1 - ROWS, 0)
        return f"transform: translateY({-rows * LINE}px)"

    def timing(self, total: float) -> Iterator[str]:
        """Yield the rules that show it in its time: the typing, then the answer.

        Args:
            total: the seconds of all scenes.
        """
        keys = len(self.scene.command)
        begun, typed, answered = (
            share(second, total)
            for second in (self.scene.begun, self.scene.typed, self.scene.answered)
        )
        there = f"transform: translateX({keys * CHARACTER:.1f}px)"
        typing = f"animation-timing-function: steps({keys}); transform: none"
        yield f"@keyframes a{self.at} {{ 0% {{ opacity: 0 }} {answered} {{ opacity: 1 }} }}\n"
        yield (
            f"@keyframes c{self.at} {{ 0% {{ opacity: 1; transform: none }} {begun} {{ {typing} }} "
            f"{typed} {{ {there} }} {answered}, 100% {{ opacity: 0; {there} }} }}\n"
        )
        for name, selector in (("a", ".answer"), ("c", ".cover")):
            yield f".s{self.at} {selector} {{ animation: {name}{self.at} {run(total)} }}\n"

    def drawn(self) -> str:
        """Return its group: a command under a cover that slides away, and the answer."""
        x = len(PROMPT) * CHARACTER
        y = self.top * LINE
        lines = "".join(text(runs, self.top + 1 + row) for row, runs in enumerate(self.answer))
        prompt = text([('class="prompt"', PROMPT)], self.bottom)
        command = text([("", " " * len(PROMPT) + self.scene.command)], self.top)
        return (
            f'<g class="s{self.at}">{command}'
            f'<g class="cover"><rect x="{x:.1f}" y="{y}" width="{WIDTH}" height="{LINE}" '
            f'fill="#0d1117"/><rect x="{x:.1f}" y="{y + 1}" width="8" height="16" '
            f'fill="#d8dee4"/></g><g class="answer">{lines}{prompt}</g></g>'
        )


def animation(scenes: list[Scene]) -> str:
    """Return the SVG."""
    total = scenes[-1].end
    tape = list(stretches(scenes))
    # The first command and its answer stand there from the beginning.
    rules = "".join(rule for stretch in tape[1:] for rule in stretch.timing(total))
    steps = " ".join(f"{share(each.scene.answered, total)} {{ {each.shift} }}" for each in tape)
    rules += f"@keyframes tape {{ {steps} 100% {{ {tape[-1].shift} }} }}\n"
    rules += f".tape {{ {tape[-1].shift}; animation: tape {run(total)} }}\n"
    return FRAME.format(
        width=WIDTH,
        height=HEIGHT,
        margin=MARGIN,
        bar=BAR,
        inner=WIDTH - MARGIN,
        rows=ROWS * LINE,
        label=escape("A terminal: " + ", ".join(scene.command for scene in scenes[1:])),
        style=STYLE % FONT_SIZE + rules + STILL,
        scenes="\n".join(
            [text([('class="prompt"', PROMPT)], 0), *(stretch.drawn() for stretch in tape)]
        ),
    )


def stretches(scenes: list[Scene]) -> Iterator[Stretch]:
    """Yield the scenes with their rows, one below the other."""
    top = 0
    for at, scene in enumerate(scenes):
        answer = [row for line in coloured(scene.output) for row in wrapped(line, COLUMNS)]
        assert len(PROMPT + scene.command) <= COLUMNS, "The command does not fit into a line."
        assert len(answer) + 2 <= ROWS, f"The answer has {len(answer)} lines."
        yield Stretch(scene, at, top, answer)
        top += 1 + len(answer)


def share(second: float, total: float) -> str:
    """Return a second as a keyframe's place in all of them."""
    return f"{100 * second / total:.3f}%"


def run(total: float) -> str:
    """Return how an animation of all seconds runs."""
    return f"{total:.2f}s step-end infinite"


def text(runs: list[tuple[str, str]], row: int) -> str:
    """Return a line of text, its runs in their colours."""
    spans = "".join(
        f"<tspan {style}>{escape(part)}</tspan>" if style else escape(part) for style, part in runs
    )
    return f'<text y="{row * LINE + 14}">{spans}</text>' if spans else ""


def coloured(output: str) -> Iterator[list[tuple[str, str]]]:
    """Yield the lines of an output, each a list of runs: attributes and text."""
    style = ""
    for line in output.rstrip("\n").split("\n"):
        runs: list[tuple[str, str]] = []
        for place, part in enumerate(COLOUR.split(line)):
            if place % 2:
                style = attributes(part)
            elif part:
                runs.append((style, part))
        yield runs


def attributes(codes: str) -> str:
    """Return what a colour sequence means for a run."""
    found = codes.split(";")
    fills = [f'fill="{PALETTE[code]}"' for code in found if code in PALETTE]
    return " ".join(['class="bold"', *fills] if "1" in found else fills)


def wrapped(runs: list[tuple[str, str]], width: int) -> Iterator[list[tuple[str, str]]]:
    """Yield a line as the rows that it takes on a screen."""
    row: list[tuple[str, str]] = []
    room = width
    for style, part in runs:
        while len(part) > room:
            yield [*row, (style, part[:room])]
            row, part, room = [], part[room:], width
        row.append((style, part))
        room -= len(part)
    yield row
