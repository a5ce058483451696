"""``python -m docs.pictures``: write docs/images anew."""

from __future__ import annotations

from pathlib import Path

from docs.pictures.apps import photograph_apps
from docs.pictures.page import photograph
from docs.pictures.svg import animation
from docs.pictures.terminal import cast, record

IMAGES = Path(__file__).parents[1] / "images"


def main() -> None:
    """Record the terminal, then photograph the page and the pages of tools."""
    IMAGES.mkdir(exist_ok=True)
    scenes = record()
    (IMAGES / "terminal.cast").write_text(cast(scenes))
    (IMAGES / "terminal.svg").write_text(animation(scenes))
    photograph(IMAGES)
    photograph_apps(IMAGES)


if __name__ == "__main__":
    main()
