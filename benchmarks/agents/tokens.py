"""Counts tokens, by o200k where an encoder is installed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
NODE_MODULES = ROOT / ".venv" / "node" / "node_modules"
TIKTOKEN_FILE = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
SCRIPT = """
const { countTokens } = require("gpt-tokenizer/encoding/o200k_base");
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(texts.map((text) => countTokens(text))));
"""


class Tokens:
    """Counts tokens of texts.

    Attributes:
        encoder: the encoder: "tiktoken o200k", "gpt-tokenizer o200k", or "characters / 4" if
            neither is installed.
    """

    def __init__(self) -> None:
        choices: list[tuple[str, bool, Callable[[Sequence[str]], list[int]]]] = [
            ("tiktoken o200k", self.has_tiktoken(), self.count_by_tiktoken),
            ("gpt-tokenizer o200k", self.has_node(), self.count_by_node),
            ("characters / 4", True, lambda texts: [len(text) // 4 for text in texts]),
        ]
        self.encoder, _, self.count_all = next(choice for choice in choices if choice[1])

    @property
    def exact(self) -> bool:
        """Whether the figures can be compared with recorded ones."""
        return self.encoder.endswith("o200k")

    def count_each(self, texts: Sequence[str]) -> dict[str, int]:
        """Return the number of tokens of each text."""
        return dict(zip(texts, self.count_all(texts), strict=True))

    # Without its file tiktoken downloads it, which a benchmark must not do.
    def has_tiktoken(self) -> bool:
        folder = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR")
        place = Path(folder or Path(tempfile.gettempdir()) / "data-gym-cache")
        return (place / hashlib.sha1(TIKTOKEN_FILE.encode()).hexdigest()).exists()

    def has_node(self) -> bool:
        return self.node is not None and (NODE_MODULES / "gpt-tokenizer").exists()

    @property
    def node(self) -> str | None:
        own = NODE_MODULES / ".bin" / "node"
        return str(own) if own.exists() else shutil.which("node")

    def count_by_tiktoken(self, texts: Sequence[str]) -> list[int]:
        import tiktoken

        encoding = tiktoken.get_encoding("o200k_base")
        return [len(encoding.encode(text, disallowed_special=())) for text in texts]

    def count_by_node(self, texts: Sequence[str]) -> list[int]:
        environment = {**os.environ, "NODE_PATH": str(NODE_MODULES)}
        run = subprocess.run(
            [str(self.node), "-e", SCRIPT],
            input=json.dumps(list(texts)),
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        counts: list[int] = json.loads(run.stdout)
        return counts
