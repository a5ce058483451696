"""The documents are seeded from the running Python and have a read-only API."""

from __future__ import annotations

from pydoc_data.topics import topics

from django.core.management import call_command

from example_project.library.models import Document

URL = "/api/library/documents/"


def test_the_documents_are_the_topics_of_the_running_python():
    rows = dict(Document.objects.values_list("name", "text"))
    assert rows == {name: text.strip() for name, text in topics.items()}


def test_seeding_again_keeps_changes():
    Document.objects.filter(name="lambda").update(title="Small functions")
    call_command("seed", verbosity=0)
    assert Document.objects.get(name="lambda").title == "Small functions"


def test_the_list_has_the_length_of_documents_and_one_document_its_text(http):
    page = http.get(URL, {"page_size": 100}).json()
    length = len(topics["lambda"].strip())
    assert page["count"] == len(topics)
    assert {"name": "lambda", "title": "Lambdas", "length": length} in page["results"]
    assert http.get(f"{URL}lambda/").json()["text"] == topics["lambda"].strip()


def test_search_includes_the_texts(http):
    found = {row["name"] for row in http.get(URL, {"search": "__enter__"}).json()["results"]}
    assert found == {name for name, text in topics.items() if "__enter__" in text}


def test_documents_are_read_only(http):
    for send in (http.post, http.put, http.patch, http.delete):
        assert send(f"{URL}lambda/", {"text": ""}).status_code == 405


def test_agents_list_and_read_documents(alice):
    listed = alice.call("documents_list", search="context manager", page_size=3)
    assert listed.envelope["meta"]["pagination"]["has_more"]
    name = listed.data["results"][0]["name"]
    assert alice.call("documents_retrieve", name=name).data["name"] == name


def test_an_edited_document_is_found_by_its_new_text(http):
    document = Document.objects.get(name="pass")
    document.text += "\n\nThe quokka is a small marsupial that lives on Rottnest Island.\n"
    document.save()
    answer = http.post("/api/library/bm25_retriever/", {"question": "Where do quokkas live?"})
    assert "Rottnest Island" in answer.json()["answer"]
