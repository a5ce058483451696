from __future__ import annotations

from tests.contrib.prompts.conftest import serve

__all__ = ["serve"]
