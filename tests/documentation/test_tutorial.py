"""The tutorial works as written."""

from __future__ import annotations

import json
import re

from docs.pictures.terminal import SHOWN
from tests.documentation.tutorial import (
    BLOCK,
    FIRST,
    ROOT,
    SECOND,
    Reader,
    commands,
    replace_varying,
    shown,
)
from tests.programs.interop.servers import stop


def test_both_parts_of_the_tutorial_work_as_written(tmp_path):
    reader = Reader(tmp_path)
    try:
        reader.follow()
        reader.follow(SECOND)
    finally:
        if reader.server is not None:
            stop(reader.server)


def test_the_recording_shows_the_answers_of_the_tutorial():
    """``make pictures`` records them."""
    _head, *events = (ROOT / "docs" / "images" / "terminal.cast").read_text().splitlines()
    typed = "".join(json.loads(event)[2] for event in events).replace("\r\n", "\n")
    recorded = dict(commands(re.sub(r"\x1b\[[\d;]*m", "", typed)))
    text = (ROOT / "docs" / FIRST).read_text()
    page = {c: said for kind, block in BLOCK.findall(text) for c, said in commands(block)}
    assert recorded.keys() == {*SHOWN} <= page.keys()
    for command in filter(re.compile("mcp_call").search, SHOWN):
        assert shown(page[command]).fullmatch(replace_varying(recorded[command]))
