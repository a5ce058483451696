"""The documents of the library, and the version of them that the database has."""

from __future__ import annotations

from collections.abc import Iterator

from example_project.library.models import Document, checksum


def seed_library() -> None:
    """Fill an empty library with the language reference that comes with every Python."""
    if not Document.objects.exists():
        Document.objects.bulk_create(language_reference())


def language_reference() -> Iterator[Document]:
    """Yield the topics that ``help("TOPIC")`` shows, as documents."""
    from pydoc_data.topics import topics

    for name, text in sorted(topics.items()):
        title, text = text.partition("\n")[0].strip(), text.strip()
        yield Document(name=name, title=title, text=text, checksum=checksum(name, title, text))


def corpus_version() -> str:
    """Return a text that changes whenever a document does; "" for an empty library."""
    checksums = list(Document.objects.order_by("name").values_list("checksum", flat=True))
    return checksum(*checksums) if checksums else ""
