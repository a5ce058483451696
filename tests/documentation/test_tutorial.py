"""The tutorial works as written."""

from __future__ import annotations

from tests.documentation.tutorial import Reader
from tests.programs.interop.servers import stop


def test_the_tutorial_works_as_written(tmp_path):
    reader = Reader(tmp_path)
    try:
        reader.follow()
        assert reader.server is not None
    finally:
        if reader.server is not None:
            stop(reader.server)
