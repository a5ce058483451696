"""The German catalogs, and the texts that pages, mails, the admin and scripts mark.

``python -m tests.language.catalogs`` adds new texts, removes those that are not marked any more,
and compiles the catalogs.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
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
# What people read: pages, mails and the admin. Models and commands read English.
FOR_PEOPLE = re.compile(
    r"browsable/|(admin|forms|models|apps)\.py$|operators/(page|permission_trace)"
    r"|(tokens|rules|oauth)/views\.py$|rules/mail"
)
# The catalogs by their domain: texts of scripts are in a catalog of their own.
CATALOGS = {path.stem: path for path in sorted(PACKAGE.glob("**/locale/de/LC_MESSAGES/*.po"))}


def read_marked(domain: str) -> Iterator[tuple]:
    """Yield (line, function, texts, comments) for each mark."""
    if domain == "drf_mcpjs":
        for path in sorted(PACKAGE.rglob("*.js")):
            yield from extract_javascript(io.BytesIO(path.read_bytes()), KEYWORDS, COMMENTS, {})
        return
    for path in sorted(PACKAGE.rglob("*.py")):
        if FOR_PEOPLE.search(str(path)) and "migrations" not in path.parts:
            yield from extract_python(io.BytesIO(path.read_bytes()), KEYWORDS, COMMENTS, {})
    for path in sorted(PACKAGE.rglob("templates/**/*.*")):
        # Babel reads Python, and ``templatize`` leaves the indentation of the template.
        lines = templatize(path.read_text(), origin=str(path)).splitlines()
        code = "\n".join(line.strip() for line in lines).encode()
        yield from extract_python(io.BytesIO(code), KEYWORDS, COMMENTS, {})


def collect(domain: str) -> Catalog:
    """Return a catalog of the marked texts of a domain, without translations."""
    catalog = Catalog()
    for _line, function, found, comments in read_marked(domain):
        texts = found if isinstance(found, tuple) else (found,)
        context = texts[0] if "pgettext" in function else None
        texts = texts[1:] if context else texts
        # A call with a variable has no text here; another call has marked its text.
        if texts[0]:
            msgid = tuple(texts[:2]) if function.startswith("n") else texts[0]
            catalog.add(msgid, auto_comments=comments, context=context)
    return catalog


def read_catalog(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale="de")


def main() -> None:
    for domain, path in CATALOGS.items():
        catalog = read_catalog(path)
        created = catalog.creation_date
        catalog.update(collect(domain), no_fuzzy_matching=True)
        catalog.creation_date = created
        written, compiled = io.BytesIO(), io.BytesIO()
        write_po(written, catalog, width=100, no_location=True, ignore_obsolete=True)
        write_mo(compiled, catalog)
        for place, content in ((path, written), (path.with_suffix(".mo"), compiled)):
            # Another process may be reading the file.
            if not place.exists() or place.read_bytes() != content.getvalue():
                place.write_bytes(content.getvalue())
        missing = sum(not message.string for message in catalog if message.id)
        sys.stdout.write(f"{domain}: {len(catalog)} texts, {missing} not translated\n")


if __name__ == "__main__":
    main()
