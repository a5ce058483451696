"""Requests that the HTTP API takes, each of them a tool call as well."""

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
        kwargs: what the path holds.
        query: what the query holds.
        arguments: the arguments of the tool, where they are not the three side by side.
        multipart: the body is sent as a form over HTTP.
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
    """One endpoint that is hard to describe, and what it takes.

    Attributes:
        name: the tool's name; the path is made of it.
        view: the callback.
        method: the HTTP method.
        samples: requests it accepts.
        path: the route, where it is not the name.
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
    """Return samples of nothing but a body."""
    return tuple(Sample(value) for value in values)


def file(content: bytes, name: str = "upload", kind: str = "text/plain") -> SimpleUploadedFile:
    """Return a file as HTTP clients send it."""
    return SimpleUploadedFile(name, content, kind)
