"""The library's API: six retrievers, two reports on the service, and the documents."""

from __future__ import annotations

from collections.abc import Callable

from django.db.models.functions import Length
from django.utils import timezone
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.filters import OrderingFilter, SearchFilter
from rest_framework.generics import RetrieveAPIView
from rest_framework.pagination import PageNumberPagination
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp import mcp_tool, mcp_viewset
from example_project.library import retrievers, serializers
from example_project.library.answers import answer
from example_project.library.indexes import current_index
from example_project.library.models import Document
from example_project.library.retrievers import Retriever
from example_project.library.stored_answers import stored_answers
from example_project.library.validation import exception_handler

# The tag of the tools that the library's own endpoint serves.
TAG = "retrieval"


def retrieval_tool(name: str, title: str) -> Callable[[type], type]:
    """Expose a `RetrieverView`: asking changes nothing, although it is a POST."""
    harmless = {"read_only": True, "destructive": False, "idempotent": True}
    return mcp_tool(name=name, title=title, tags=[TAG], **harmless)


class RetrieverView(APIView):
    """Answers a question from the documents that one retriever finds.

    Attributes:
        retriever: the retriever.
    """

    retriever: Retriever
    serializer_class = serializers.QuestionSerializer

    # Without a docstring: the tools are described by their classes.
    def post(self, request) -> Response:
        serializer = self.serializer_class(data=request.data)
        serializer.is_valid(raise_exception=True)
        return Response(answer(self.retriever, serializer.validated_data["question"]))

    def get_exception_handler(self):
        return exception_handler


@retrieval_tool("naive_retriever", "Ask the library (similarity)")
class NaiveRetrieverView(RetrieverView):
    """Answer a question about Python from the passages most similar to it.

    A good first choice. Gives ``answer``, with its sources, and ``context_document_count``.
    """

    retriever = retrievers.NaiveRetriever()


@retrieval_tool("bm25_retriever", "Ask the library (keywords)")
class BM25RetrieverView(RetrieverView):
    """Answer a question about Python by its keywords: best for names such as ``__getattr__``.

    Gives ``answer``, with its sources, and ``context_document_count``.
    """

    retriever = retrievers.BM25Retriever()


@retrieval_tool("contextual_compression_retriever", "Ask the library (relevant sentences only)")
class CompressionRetrieverView(RetrieverView):
    """Answer a question about Python from nothing but the sentences that speak of it.

    Gives ``answer``, with its sources, and ``context_document_count``.
    """

    retriever = retrievers.ContextualCompressionRetriever()


@retrieval_tool("multi_query_retriever", "Ask the library (several wordings)")
class MultiQueryRetrieverView(RetrieverView):
    """Answer a question about Python, looking for several wordings of it.

    Use it when the wording is unsure. Gives ``answer``, with its sources, and
    ``context_document_count``.
    """

    retriever = retrievers.MultiQueryRetriever()


@retrieval_tool("ensemble_retriever", "Ask the library (all ways at once)")
class EnsembleRetrieverView(RetrieverView):
    """Answer a question about Python with all ways of searching at once.

    The most thorough. Gives ``answer``, with its sources, and ``context_document_count``.
    """

    retriever = retrievers.EnsembleRetriever()


@retrieval_tool("semantic_retriever", "Ask the library (meaning)")
class SemanticRetrieverView(RetrieverView):
    """Answer a question about Python by its meaning: passages may use other words.

    Gives ``answer``, with its sources, and ``context_document_count``.
    """

    retriever = retrievers.SemanticRetriever()


@mcp_tool(name="health_check_health_get", title="Health of the library", tags=[TAG])
class HealthView(RetrieveAPIView):
    """Tell whether the library can answer: its index and its cache are there."""

    permission_classes = [AllowAny]
    serializer_class = serializers.HealthSerializer

    def get_object(self) -> dict[str, object]:
        current_index()
        stored_answers.statistics()
        return {"status": "healthy", "timestamp": timezone.now()}


@mcp_tool(name="cache_stats_cache_stats_get", title="Stored answers", tags=[TAG])
class CacheStatsView(RetrieveAPIView):
    """Count the stored answers, how often one was of use, and the memory they take."""

    serializer_class = serializers.CacheStatsSerializer

    def get_object(self) -> dict[str, object]:
        return {"cache_stats": stored_answers.statistics()}


class DocumentPages(PageNumberPagination):
    """``page`` and ``page_size``."""

    page_size = 20
    page_size_query_param = "page_size"
    max_page_size = 100


class TextPages(DocumentPages):
    """Pages of whole texts, which are long."""

    page_size = 5
    max_page_size = 20


@mcp_viewset(name="documents")
class DocumentViewSet(viewsets.ReadOnlyModelViewSet):
    """The documents of the library, named such as ``context-managers``."""

    queryset = Document.objects.annotate(length=Length("text"))
    lookup_field = "name"
    lookup_value_regex = "[-a-z0-9_]+"
    pagination_class = DocumentPages
    filter_backends = [SearchFilter, OrderingFilter]
    search_fields = ["name", "title", "text"]
    ordering_fields = ["name", "title", "length"]

    def get_serializer_class(self):
        if self.action == "list":
            return serializers.DocumentTitleSerializer
        return serializers.DocumentSerializer

    @mcp_tool(title="List documents with their texts")
    @action(detail=False, pagination_class=TextPages)
    def texts(self, request) -> Response:
        """List documents with all of their text. Search for what they should speak of."""
        return self.list(request)
