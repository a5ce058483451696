"""A recording as an animated SVG, which browsers play without a script."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
.scene, .answer { opacity: 0; }
"""
STILL = """
@media (prefers-reduced-motion: reduce) {
  * { animation: none !important; }
  .cover { display: none; }
  .scene:last-of-type, .scene:last-of-type .answer { opacity: 1; }
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
{scenes}
</svg>
</svg>
"""


def animation(scenes: list[Scene]) -> str:
    """Return the SVG."""
    total = scenes[-1].end
    first = scenes[0].answered
    rules = "".join(
        rule for at, scene in enumerate(scenes) for rule in timing(at, scene, total, first)
    )
    return FRAME.format(
        width=WIDTH,
        height=HEIGHT,
        margin=MARGIN,
        bar=BAR,
        inner=WIDTH - MARGIN,
        rows=ROWS * LINE,
        label=escape("A terminal: " + ", ".join(scene.command for scene in scenes)),
        style=STYLE % FONT_SIZE + rules + STILL,
        scenes="\n".join(drawn(at, scene) for at, scene in enumerate(scenes)),
    )


def timing(at: int, scene: Scene, total: float, first: float) -> Iterator[str]:
    """Yield the rules that show a scene in its time: the typing, then the answer.

    Args:
        at: the scene's place.
        scene: the scene.
        total: the seconds of all scenes.
        first: the second to begin with, so that the first thing seen is no empty screen.
    """
    keys = len(scene.command)
    begun, typed, answered, end = (
        f"{100 * second / total:.3f}%"
        for second in (scene.start, scene.typed, scene.answered, scene.end)
    )
    run = f"{total:.2f}s step-end {-first:.2f}s infinite"
    after = "" if end == "100.000%" else f"{end} {{ opacity: 0 }}"
    shown = int(at == 0)
    yield f"@keyframes s{at} {{ 0% {{ opacity: {shown} }} {begun} {{ opacity: 1 }} {after} }}\n"
    yield f"@keyframes a{at} {{ 0% {{ opacity: 0 }} {answered} {{ opacity: 1 }} }}\n"
    steps = f"animation-timing-function: steps({keys})"
    there = f"transform: translateX({keys * CHARACTER:.1f}px)"
    yield f"@keyframes c{at} {{ {begun} {{ {steps} }} {typed}, 100% {{ {there} }} }}\n"
    for name, selector in (("s", f".s{at}"), ("a", f".s{at} .answer"), ("c", f".s{at} .cover")):
        yield f"{selector} {{ animation: {name}{at} {run} }}\n"


def drawn(at: int, scene: Scene) -> str:
    """Return the group of a scene: its command under a cover that slides away, its answer."""
    command = list(wrapped([("", scene.command)], COLUMNS - len(PROMPT)))
    answer = [row for line in coloured(scene.output) for row in wrapped(line, COLUMNS)]
    rows = answer[: ROWS - 1]
    x = len(PROMPT) * CHARACTER
    assert len(command) == 1, "The command does not fit into a line."
    assert len(answer) < ROWS, f"The answer has {len(answer)} lines."
    lines = "".join(text(runs, number + 1) for number, runs in enumerate(rows))
    prompt = f'<tspan class="prompt">{PROMPT}</tspan>'
    return (
        f'<g class="scene s{at}"><text y="14">{prompt}{escape(scene.command)}</text>'
        f'<g class="cover"><rect x="{x:.1f}" width="{WIDTH}" height="{LINE}" fill="#0d1117"/>'
        f'<rect x="{x:.1f}" y="1" width="8" height="16" fill="#d8dee4"/></g>'
        f'<g class="answer">{lines}</g></g>'
    )


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
