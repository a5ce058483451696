"""Small views that are open to all callers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from rest_framework.decorators import api_view, permission_classes
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView


def answering(answer: Callable[[Any], Any], method: str = "GET") -> Callable[..., Any]:
    @api_view([method])
    @permission_classes([])
    def thing(request) -> Any:
        return answer(request)

    return thing


def raising(exc: BaseException, method: str = "GET") -> Callable[..., Any]:
    def fail(request) -> Any:
        raise exc

    return answering(fail, method)


def sending(
    body: Any, media_type: str = "text/plain", status: int = 200, **headers: str
) -> Callable[..., Any]:
    kind = HttpResponse if isinstance(body, (bytes, str)) else StreamingHttpResponse
    options = {"content_type": media_type, "status": status, "headers": headers}
    return answering(lambda request: kind(body, **options))


class Source:
    """An iterator that counts the chunks it gave and the times it was closed."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self.chunks = iter(chunks)
        self.taken = self.closed = 0

    def __iter__(self) -> Source:
        return self

    def __next__(self) -> bytes:
        chunk = next(self.chunks)
        self.taken += 1
        return chunk

    def close(self) -> None:
        self.closed += 1


def validating(serializer: type[Serializer], *, many: bool = False) -> Callable[..., Any]:
    class Thing(APIView):
        permission_classes = []
        serializer_class = serializer

        def post(self, request) -> Response:
            checked = self.get_serializer(data=request.data)
            checked.is_valid(raise_exception=True)
            return Response(checked.data, status=201)

        def get_serializer(self, *args: Any, **kwargs: Any) -> Any:
            return self.serializer_class(*args, many=many, **kwargs)

    return Thing.as_view()
