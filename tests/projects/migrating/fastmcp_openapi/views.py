from rest_framework import filters, pagination, permissions, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from .models import Author, LibraryBook


class AuthorSerializer(serializers.ModelSerializer):
    class Meta:
        model = Author
        fields = ["id", "name"]


class BookSerializer(serializers.ModelSerializer):
    class Meta:
        model = LibraryBook
        fields = ["id", "title", "author", "year", "is_lent"]


class NothingSerializer(serializers.Serializer):
    """No body."""


class Pages(pagination.PageNumberPagination):
    page_size = 20


class AuthorViewSet(viewsets.ReadOnlyModelViewSet):
    """Who wrote the books."""

    queryset = Author.objects.all()
    serializer_class = AuthorSerializer
    permission_classes = [permissions.IsAuthenticated]
    pagination_class = Pages


class BookViewSet(viewsets.ModelViewSet):
    """The books of the library."""

    queryset = LibraryBook.objects.all()
    serializer_class = BookSerializer
    permission_classes = [permissions.IsAuthenticated]
    pagination_class = Pages
    filter_backends = [filters.SearchFilter, filters.OrderingFilter]
    search_fields = ["title", "author__name"]
    ordering_fields = ["title", "year"]

    @action(detail=True, methods=["post"], serializer_class=NothingSerializer)
    def lend(self, request, pk=None):
        """Note that a book has left the library."""
        book = self.get_object()
        book.is_lent = True
        book.save()
        return Response(BookSerializer(book).data)
