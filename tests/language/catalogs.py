"""The catalogs of drf_mcp, and the texts that its code, its pages and their scripts mark.

This command adds new texts to every catalog, removes texts that are no longer marked, and compiles
the catalogs::

    python -m tests.language.catalogs
"""

from __future__ import annotations

import functools
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_javascript, extract_python
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

PACKAGE = Path(__file__).parents[2] / "drf_mcp"
# The functions that mark texts, and which of their arguments are texts; "c" is a context.
KEYWORDS: dict[str, tuple | None] = {
    **dict.fromkeys(("_", "gettext", "gettext_lazy", "gettext_noop")),
    **dict.fromkeys(("ngettext", "ngettext_lazy"), (1, 2)),
    **dict.fromkeys(("pgettext", "pgettext_lazy"), ((1, "c"), 2)),
    "npgettext": ((1, "c"), 2, 3),
}
COMMENTS = ["Translators:"]


def read_scripts() -> Iterator[tuple]:
    for path in sorted(PACKAGE.rglob("*.js")):
        yield from extract_javascript(io.BytesIO(path.read_bytes()), KEYWORDS, COMMENTS, {})


def read_code() -> Iterator[tuple]:
    for path in sorted(PACKAGE.rglob("*.py")):
        if "migrations" not in path.parts:
            yield from extract_python(io.BytesIO(path.read_bytes()), KEYWORDS, COMMENTS, {})
    for path in sorted(PACKAGE.rglob("templates/**/*.*")):
        marked = templatize(path.read_text(), origin=str(path))
        # Babel reads Python. ``templatize`` leaves the indentation of the template.
        lines = "\n".join(line.strip() for line in marked.splitlines())
        yield from extract_python(io.BytesIO(lines.encode()), KEYWORDS, COMMENTS, {})


READERS = {"django": read_code, "drf_mcpjs": read_scripts}


@functools.cache
def collect(domain: str) -> Catalog:
    """Return a catalog of the texts of a domain, without translations."""
    catalog = Catalog()
    for _line, function, found, comments in READERS[domain]():
        texts = found if isinstance(found, tuple) else (found,)
        context = texts[0] if "pgettext" in function else None
        texts = texts[1:] if context else texts
        # A call with a variable has no text here; another call has marked its text.
        if texts[0]:
            msgid = tuple(texts[:2]) if function.startswith("n") else texts[0]
            catalog.add(msgid, auto_comments=comments, context=context)
    return catalog


@dataclass(frozen=True)
class CatalogFile:
    """A catalog: the texts of a domain in one language."""

    path: Path

    @property
    def language(self) -> str:
        return self.path.parts[-3]

    @property
    def domain(self) -> str:
        return self.path.stem

    @property
    def compiled(self) -> Path:
        return self.path.with_suffix(".mo")

    def read(self) -> Catalog:
        with self.path.open("rb") as file:
            return read_po(file, locale=self.language)

    def refresh(self) -> Catalog:
        """Return the catalog with exactly the texts that are marked now."""
        catalog = self.read()
        created = catalog.creation_date
        catalog.update(collect(self.domain), no_fuzzy_matching=True)
        catalog.creation_date = created
        return catalog

    def write(self, catalog: Catalog) -> None:
        content = io.BytesIO()
        write_po(content, catalog, width=100, no_location=True, ignore_obsolete=True)
        written = {self.path: content.getvalue(), self.compiled: compile_catalog(catalog)}
        for path, wanted in written.items():
            # Another process may be reading the file.
            if not path.exists() or path.read_bytes() != wanted:
                path.write_bytes(wanted)


def compile_catalog(catalog: Catalog) -> bytes:
    """Return the bytes of a .mo file."""
    content = io.BytesIO()
    write_mo(content, catalog)
    return content.getvalue()


def find_catalogs() -> list[CatalogFile]:
    """Return the catalogs of the package in every language."""
    return list(map(CatalogFile, sorted(PACKAGE.glob("**/locale/*/LC_MESSAGES/*.po"))))


def main() -> None:
    for file in find_catalogs():
        catalog = file.refresh()
        file.write(catalog)
        missing = sum(not message.string for message in catalog if message.id)
        print(f"{file.path.relative_to(PACKAGE)}: {len(catalog)} texts, {missing} not translated")  # noqa: T201


if __name__ == "__main__":
    main()
