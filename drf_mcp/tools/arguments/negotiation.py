from __future__ import annotations

from collections.abc import Mapping

from rest_framework.parsers import FileUploadParser, FormParser, MultiPartParser
from rest_framework.views import APIView

from drf_mcp.introspection.request_body.parsers import ViewParsers, is_json_parser
from drf_mcp.introspection.types import Body, Place
from drf_mcp.tools.arguments.encoders import (
    BodyEncoder,
    FileBody,
    FormBody,
    MultiPartBody,
    TextBody,
)


class BodyNegotiation:
    """Chooses the encoder of a view's bodies, by the parsers of the view.

    JSON wins wherever the view takes it and no file is among the values; a view that takes
    neither JSON nor a form gets a text as the caller sent it.
    """

    def __init__(self, view: APIView, body: Body) -> None:
        self.view = view
        self.body = body
        self.handling = body.all_handling
        self.expected = body.kind in ("object", "either")

    def get_encoder(self) -> BodyEncoder:
        readers = ViewParsers(self.view)
        text = readers.text
        if readers.reads_whole_file or () in self.handling.uploads:
            return FileBody("" if text is None or "*" in text.media_type else text.media_type)
        forms, parsers = self.get_forms(), self.view.parser_classes
        files = self.get_file_encoder(MultiPartBody(self.expected, forms))
        for parser in parsers:
            if is_json_parser(parser):
                # Bodies that cannot hold a file are not searched for one in each call.
                files = files if self.handling.uploads else None
                return BodyEncoder(parser.media_type, self.expected, files)
        for parser in parsers:
            if isinstance(files, MultiPartBody) and issubclass(parser, MultiPartParser):
                return files
            if issubclass(parser, FormParser):
                return FormBody(parser.media_type, self.expected, files, forms=forms)
        return BodyEncoder(expected=self.expected) if text is None else TextBody(text.media_type)

    def get_file_encoder(self, multipart: MultiPartBody) -> BodyEncoder | None:
        parsers = self.view.parser_classes
        if any(issubclass(parser, MultiPartParser) for parser in parsers):
            return multipart
        raw = any(issubclass(parser, FileUploadParser) for parser in parsers)
        return FileBody("") if raw else None

    def get_forms(self) -> Mapping[Place, str]:
        rows: dict[Place, str] = {(): "parts"} if self.body.kind in ("list", "either") else {}
        return {**rows, **self.handling.forms}
