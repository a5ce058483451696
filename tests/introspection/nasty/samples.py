"""Requests of the HTTP API and the tool calls that are equal to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import path as route

NOTHING = object()


@dataclass(frozen=True)
class Sample:
    """One request.

    Attributes:
        body: its JSON body, or its form fields and files.
        kwargs: the arguments of the path.
        query: the query parameters.
        arguments: the arguments of the tool, if they are not kwargs, query and body together.
        multipart: whether the body is sent as a form over HTTP.
    """

    body: Any = NOTHING
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Any] | None = None
    multipart: bool = False

    @property
    def sent(self) -> dict[str, Any]:
        """The arguments of the tool."""
        if self.arguments is not None:
            return dict(self.arguments)
        around = {**self.kwargs, **self.query}
        if self.body is NOTHING:
            return around
        if isinstance(self.body, list):
            return {**around, "items": self.body}
        return {**around, **self.body}


@dataclass(frozen=True)
class Nasty:
    """An endpoint that is hard to describe, and requests that it accepts.

    Attributes:
        name: the tool's name, which the path is made of.
        view: the callback.
        method: the HTTP method.
        samples: requests that the endpoint accepts.
        path: the route, if it is not made of the name.
    """

    name: str
    view: Any
    method: str = "POST"
    samples: tuple[Sample, ...] = ()
    path: str = ""

    @property
    def pattern(self) -> Any:
        """The URL pattern."""
        return route(self.path or f"{self.name.replace('_', '-')}/", self.view)


def bodies(*values: Any) -> tuple[Sample, ...]:
    """Return samples that have only a body."""
    return tuple(Sample(value) for value in values)


def file(content: bytes, name: str = "upload", kind: str = "text/plain") -> SimpleUploadedFile:
    """Return a file as HTTP clients upload it."""
    return SimpleUploadedFile(name, content, kind)
