"""The documents are seeded from the running Python and have a read-only API."""

from __future__ import annotations

from pydoc_data.topics import topics

from django.core.management import call_command

from example_project.library.corpus import corpus_version
from example_project.library.indexes import current_index
from example_project.library.models import Document, checksum

URL = "/api/library/documents/"


def rows() -> list[tuple]:
    return list(Document.objects.values_list("name", "title", "text", "checksum"))


def test_the_documents_are_the_topics_of_the_running_python():
    assert {name: text for name, _, text, _ in rows()} == {
        name: text.strip() for name, text in topics.items()
    }
    for name, title, text, digest in rows():
        assert digest == checksum(name, title, text)


def test_an_empty_library_is_seeded_with_the_same_documents():
    before = rows()
    Document.objects.all().delete()
    call_command("seed", verbosity=0)
    assert rows() == before


def test_seeding_again_keeps_changes():
    Document.objects.filter(name="lambda").update(title="Small functions")
    before = rows()
    call_command("seed", verbosity=0)
    assert rows() == before


def test_documents_are_valid():
    for document in Document.objects.all():
        document.full_clean()


def test_the_list_has_the_length_of_documents_and_not_their_text(http):
    page = http.get(URL, {"page_size": 100}).json()
    assert page["count"] == len(topics)
    assert {"name": "lambda", "title": "Lambdas", "length": len(topics["lambda"].strip())} in (
        page["results"]
    )


def test_a_document_is_read_whole(http):
    assert http.get(f"{URL}specialnames/").json()["text"] == topics["specialnames"].strip()


def test_search_includes_the_texts(http):
    found = {row["name"] for row in http.get(URL, {"search": "__enter__"}).json()["results"]}
    assert "context-managers" in found
    assert found == {name for name, text in topics.items() if "__enter__" in text}


def test_documents_can_be_ordered_by_length(http):
    rows = http.get(URL, {"ordering": "-length"}).json()["results"]
    assert rows[0]["length"] == max(len(text.strip()) for text in topics.values())


def test_documents_are_read_only(http):
    for send in (http.post, http.put, http.patch, http.delete):
        assert send(f"{URL}lambda/", {"text": ""}).status_code == 405


def test_agents_list_and_read_documents(alice):
    listed = alice.call("documents_list", search="context manager", page_size=3)
    assert listed.envelope["meta"]["pagination"]["has_more"]
    name = listed.data["results"][0]["name"]
    assert alice.call("documents_retrieve", name=name).data["name"] == name


def test_an_edited_document_is_found_by_its_new_text(http):
    version = corpus_version()
    document = Document.objects.get(name="pass")
    document.text += "\n\nThe quokka is a small marsupial that lives on Rottnest Island.\n"
    document.save()
    assert corpus_version() != version
    answer = http.post("/api/library/bm25_retriever/", {"question": "Where do quokkas live?"})
    assert "Rottnest Island" in answer.json()["answer"]


def test_the_index_is_built_once_for_a_version_of_the_documents():
    assert current_index() is current_index()
