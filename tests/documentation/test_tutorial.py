"""The tutorial works as written."""

from __future__ import annotations

from tests.documentation.tutorial import SECOND, Reader
from tests.programs.interop.servers import stop


def test_both_parts_of_the_tutorial_work_as_written(tmp_path):
    reader = Reader(tmp_path)
    try:
        reader.follow()
        reader.follow(SECOND)
    finally:
        if reader.server is not None:
            stop(reader.server)
