"""The tutorial works as written, and its recording shows the output."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from tests.documentation.tutorial import BLOCK, PAGE, Reader, commands, replace_varying, shown
from tests.programs.interop.servers import ROOT, stop

RECORDING = ROOT / "docs" / "images" / "terminal.cast"
COLOURS = re.compile(r"\x1b\[[\d;]*[A-Za-z]")


@pytest.fixture
def reader(tmp_path) -> Iterator[Reader]:
    reader = Reader(tmp_path)
    yield reader
    if reader.server is not None:
        stop(reader.server)


def test_the_tutorial_works_as_written(reader):
    reader.follow()
    assert reader.server is not None


def test_the_recording_shows_the_output_of_the_tutorial():
    """``make pictures`` writes the recording."""
    _, *lines = RECORDING.read_text().splitlines()
    played = COLOURS.sub("", "".join(json.loads(line)[2] for line in lines))
    recorded = dict(commands(played.replace("\r\n", "\n")))
    blocks = (text for kind, text in BLOCK.findall(PAGE) if kind == "console")
    outputs = dict(command for text in blocks for command in commands(text))
    assert len(recorded) == 4
    for command, output in recorded.items():
        assert shown(outputs[command]).fullmatch(replace_varying(output)), command
