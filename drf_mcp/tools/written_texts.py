"""What people wrote about an endpoint, without the texts that say nothing."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Collection
from typing import Any

from rest_framework.views import APIView

from drf_mcp.introspection.text import clean_text
from drf_mcp.tools.endpoints import Endpoint

# The words of docstrings such as "This viewset automatically provides `list` and `retrieve`
# actions" and "API endpoint that allows users to be viewed or edited". Nothing is known of the
# project from a sentence without any other word but the model's name and what is quoted as code.
STOCK_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a action actions additional additionally all allow allows also an and any api are as "
        "automatic automatically available base based basic be by can class common complete "
        "create created creates creating crud custom data default defaults delete deleted "
        "deletes deleting destroy display edit edited editing either endpoint endpoints "
        "existing extra for from full function functionality generic get gets given handle "
        "handles handling http implementation in instance instances it item items its list "
        "listed listing lists manage managed management manages managing method methods model "
        "models modelviewset modify new object objects of on one only operation operations or "
        "our partial partially patch perform performing performs post provide provided provides "
        "providing put queryset read readonly remove removed resource resources rest restful "
        "retrieve retrieved retrieves retrieving return returns serializer set sets simple "
        "single some specific standard submit that the their them these this through to update "
        "updated updates updating use used using various via view viewed viewing views viewset "
        "viewsets we which with work works write",
    )
)
SENTENCE = re.compile(r"(?<=[.!?:])\s+")
CODE = re.compile(r"`[^`]*`")
WORD = re.compile(r"[^\W\d]\w*")
# A header of REST framework's own schemas: the lines below it are about one action.
SECTION = re.compile(r"([a-z]\w*):(?:\s+(.*)|)\Z")
# What is said of a view, and is said once, may take this many characters.
MAX_ABOUT = 300


class WrittenTexts:
    """The texts of one endpoint, by what they were written about."""

    def __init__(self, endpoint: Endpoint, view: APIView) -> None:
        self.endpoint = endpoint
        self.view = view

    @functools.cached_property
    def annotations(self) -> Any:
        return self.endpoint.find_annotations(self.view)

    @property
    def is_deprecated(self) -> bool:
        return bool(getattr(self.annotations, "is_deprecated", False))

    def get_summary(self) -> str:
        return clean_text(getattr(self.annotations, "summary", ""))

    def get_description(self) -> str:
        """Return what was written about the endpoint alone, "" for nothing."""
        endpoint = self.endpoint
        declared = getattr(self.annotations, "description", "")
        docstring = endpoint.handler_docstring
        if declared and declared != docstring:
            return str(declared)
        if docstring and endpoint.action_has_other_methods:
            return f"{endpoint.method.capitalize()}: {docstring}"
        own = endpoint.route.initkwargs.get("description") if endpoint.extra_path else None
        sections = self.split_sections(endpoint.find_docstring(endpoint.view_class))
        docstring = docstring or inspect.cleandoc(str(own or ""))
        return docstring or sections.get(endpoint.handler_name, "")

    def get_view_description(self) -> str:
        """Return what was written about the view, "" for nothing."""
        description = self.endpoint.attempt(
            lambda: str(getattr(self.view, "description", None) or ""), ""
        )
        view_class = self.endpoint.view_class
        return inspect.cleandoc(description) or self.endpoint.find_docstring(view_class)

    def get_about(self, nouns: Collection[str]) -> str:
        """Return what the view's text says beside its model's nouns and its actions' names."""
        paragraphs = self.split_sections(self.get_view_description())[""].split("\n\n")
        sentences = (SENTENCE.split(" ".join(paragraph.split())) for paragraph in paragraphs)
        kept = (" ".join(s for s in each if self.says_more(s, nouns)) for each in sentences)
        about = ""
        for paragraph in filter(None, kept):
            if about and len(about) + len(paragraph) > MAX_ABOUT:
                break
            about = f"{about} {paragraph}".strip()
        return about

    def split_sections(self, text: str) -> dict[str, str]:
        """Return the parts of the view's text by the action that they are about, "" for none."""
        sections, name = {"": ""}, ""
        for line in text.splitlines():
            header = SECTION.match(line)
            if header and callable(getattr(self.endpoint.view_class, header[1], None)):
                name, line = header[1], header[2] or ""
            sections[name] = f"{sections.get(name, '')}\n{line}"
        return {name: inspect.cleandoc(section) for name, section in sections.items()}

    @property
    def action_words(self) -> set[str]:
        return {word for name in self.endpoint.route.actions.values() for word in split(name)}

    def says_more(self, text: str, nouns: Collection[str]) -> bool:
        known = {*STOCK_WORDS, *self.action_words, *(word for n in nouns for word in split(n))}
        return not known.issuperset(split(CODE.sub("", text)))


def split(text: str) -> list[str]:
    return WORD.findall(text.lower().replace("_", " "))
