"""``python -m docs.reference_pages``: say which pages are stale, or write them."""

from __future__ import annotations

import argparse
import os
import sys

import django

import docs.reference_pages


def main() -> int:
    """Return 1 if a page is stale and not written."""
    parser = argparse.ArgumentParser(
        prog="python -m docs.reference_pages", description=docs.reference_pages.__doc__
    )
    parser.add_argument("--write", action="store_true", help="write the pages")
    write = parser.parse_args().write
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    from docs.reference_pages.pages import DOCS, stale

    found = stale()
    for name, text in found.items():
        if write:
            (DOCS / name).write_text(text)
        sys.stdout.write(f"{'Written' if write else 'Stale'}: docs/{name}\n")
    return 1 if found and not write else 0


if __name__ == "__main__":
    sys.exit(main())
