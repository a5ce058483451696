from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any

from django.http.request import HttpHeaders


class MetaHeaders(Mapping[str, str]):
    # ``request.headers`` would build all of them for the three that are read.

    def __init__(self, meta: Mapping[str, str]) -> None:
        self.meta = meta

    def __getitem__(self, name: str) -> str:
        return self.meta[get_meta_name(name)]

    def get(self, name: str, default: Any = None) -> Any:
        return self.meta.get(get_meta_name(name), default)

    def __iter__(self) -> Iterator[str]:
        return iter(HttpHeaders(self.meta))

    def __len__(self) -> int:
        return len(HttpHeaders(self.meta))


@functools.lru_cache(maxsize=256)
def get_meta_name(header: str) -> str:
    return f"HTTP_{header.upper().replace('-', '_')}"
