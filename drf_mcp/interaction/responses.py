from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rest_framework.response import Response

from drf_mcp.interaction.exchange import Block


class BlockResponse(Response):
    """A response with content blocks and data; over plain HTTP the data alone is rendered.

    Args:
        data: as of `Response`.
        blocks: the blocks, in the order in which the client shows them.
        kwargs: as of `Response`.
    """

    def __init__(self, data: Any = None, blocks: Iterable[Block] = (), **kwargs: Any) -> None:
        super().__init__(data, **kwargs)
        self.blocks = tuple(blocks)
