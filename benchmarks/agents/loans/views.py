"""The API: viewsets as projects write them, few of them with docstrings."""

from __future__ import annotations

from datetime import timedelta

import django_filters
from django.utils import timezone
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import mixins, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.filters import OrderingFilter, SearchFilter
from rest_framework.pagination import LimitOffsetPagination, PageNumberPagination
from rest_framework.parsers import MultiPartParser
from rest_framework.permissions import SAFE_METHODS, BasePermission, IsAdminUser, IsAuthenticated
from rest_framework.response import Response

from benchmarks.agents.loans import serializers
from benchmarks.agents.loans.models import Author, Book, Branch, Copy, Fine, Hold, Loan, Member

MAX_RENEWALS = 2


class IsStaffOrReadOnly(BasePermission):
    def has_permission(self, request, view) -> bool:
        allowed = request.method in SAFE_METHODS or request.user.is_staff
        return bool(request.user.is_authenticated and allowed)


class Pages(PageNumberPagination):
    page_size = 20
    page_size_query_param = "page_size"
    max_page_size = 100


class LoanWindow(LimitOffsetPagination):
    default_limit = 20
    max_limit = 100


class BranchViewSet(viewsets.ModelViewSet):
    queryset = Branch.objects.all()
    serializer_class = serializers.BranchSerializer
    permission_classes = [IsStaffOrReadOnly]
    lookup_field = "slug"


class AuthorViewSet(viewsets.ModelViewSet):
    """
    This viewset automatically provides `list`, `create`, `retrieve`,
    `update` and `destroy` actions.
    """

    queryset = Author.objects.all()
    serializer_class = serializers.AuthorSerializer
    permission_classes = [IsStaffOrReadOnly]
    pagination_class = Pages
    filter_backends = [SearchFilter]
    search_fields = ["name"]


class BookFilter(django_filters.FilterSet):
    author = django_filters.CharFilter(field_name="authors__name", lookup_expr="icontains")
    published = django_filters.DateFromToRangeFilter()
    available = django_filters.BooleanFilter(method="filter_available")

    class Meta:
        model = Book
        fields = {"language": ["exact"], "pages": ["lte", "gte"]}

    def filter_available(self, queryset, name, value):
        free = Copy.objects.exclude(loans__returned_at=None, loans__isnull=False)
        chosen = queryset.filter if value else queryset.exclude
        return chosen(copies__in=free.filter(reference_only=False)).distinct()


class BookViewSet(viewsets.ModelViewSet):
    """The catalogue."""

    queryset = Book.objects.prefetch_related("authors")
    serializer_class = serializers.BookSerializer
    permission_classes = [IsStaffOrReadOnly]
    pagination_class = Pages
    lookup_field = "isbn"
    filter_backends = [DjangoFilterBackend, SearchFilter, OrderingFilter]
    filterset_class = BookFilter
    search_fields = ["title", "authors__name", "summary"]
    ordering_fields = ["title", "published", "pages"]

    @action(
        detail=True,
        methods=["post"],
        serializer_class=serializers.CoverSerializer,
        parser_classes=[MultiPartParser],
    )
    def cover(self, request, isbn=None) -> Response:
        serializer = self.get_serializer(self.get_object(), data=request.data)
        serializer.is_valid(raise_exception=True)
        serializer.save()
        return Response(serializer.data)


class CopyViewSet(viewsets.ModelViewSet):
    """The copies of a book."""

    queryset = Copy.objects.select_related("branch")
    serializer_class = serializers.CopySerializer
    permission_classes = [IsStaffOrReadOnly]
    filter_backends = [DjangoFilterBackend]
    filterset_fields = ["branch", "condition", "reference_only"]

    def get_queryset(self):
        return super().get_queryset().filter(book__isbn=self.kwargs["book_isbn"])

    def perform_create(self, serializer) -> None:
        serializer.save(book=Book.objects.get(isbn=self.kwargs["book_isbn"]))


class MemberViewSet(viewsets.ModelViewSet):
    queryset = Member.objects.select_related("home_branch")
    serializer_class = serializers.MemberSerializer
    permission_classes = [IsAuthenticated]
    pagination_class = Pages
    filter_backends = [DjangoFilterBackend, SearchFilter, OrderingFilter]
    filterset_fields = ["kind", "blocked", "home_branch__city"]
    search_fields = ["name", "email", "card_number"]
    ordering_fields = ["name", "joined"]

    def get_queryset(self):
        members = super().get_queryset()
        return members if self.request.user.is_staff else members.filter(user=self.request.user)

    @action(detail=True, methods=["post"], permission_classes=[IsAdminUser])
    def block(self, request, pk=None) -> Response:
        """Stop a member from borrowing."""
        member = self.get_object()
        member.blocked = True
        member.save(update_fields=["blocked"])
        return Response(self.get_serializer(member).data)

    @action(detail=True, methods=["post"], permission_classes=[IsAdminUser])
    def unblock(self, request, pk=None) -> Response:
        """Let a member borrow again."""
        member = self.get_object()
        member.blocked = False
        member.save(update_fields=["blocked"])
        return Response(self.get_serializer(member).data)


class LoanViewSet(
    mixins.CreateModelMixin,
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    viewsets.GenericViewSet,
):
    """Loans of copies to members."""

    serializer_class = serializers.LoanSerializer
    permission_classes = [IsStaffOrReadOnly]
    pagination_class = LoanWindow
    filter_backends = [DjangoFilterBackend, SearchFilter, OrderingFilter]
    filterset_fields = {
        "member": ["exact"],
        "copy__book__isbn": ["exact"],
        "due": ["lte", "gte"],
        "returned_at": ["isnull"],
    }
    search_fields = ["copy__book__title", "member__name"]
    ordering_fields = ["due", "borrowed_at"]

    def get_queryset(self):
        loans = Loan.objects.select_related("copy__book", "member")
        return loans if self.request.user.is_staff else loans.filter(member__user=self.request.user)

    @action(detail=False)
    def overdue(self, request) -> Response:
        """Loans that should have been returned, the longest overdue at the top."""
        late = self.get_queryset().filter(returned_at=None, due__lt=timezone.localdate())
        page = self.paginate_queryset(late.order_by("due"))
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    @action(detail=True, methods=["post"], serializer_class=serializers.RenewSerializer)
    def renew(self, request, pk=None) -> Response:
        loan = self.get_object()
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        if loan.returned_at or loan.renewals >= MAX_RENEWALS:
            raise ValidationError("This loan cannot be renewed any more.")
        loan.due += timedelta(days=serializer.validated_data["days"])
        loan.renewals += 1
        loan.save(update_fields=["due", "renewals"])
        return Response(serializers.LoanSerializer(loan).data)

    @action(
        detail=True,
        methods=["post"],
        url_path="return",
        serializer_class=serializers.ReturnSerializer,
    )
    def give_back(self, request, pk=None) -> Response:
        """Take a copy back."""
        loan = self.get_object()
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        loan.returned_at = timezone.now()
        loan.save(update_fields=["returned_at"])
        loan.copy.condition = serializer.validated_data["condition"]
        loan.copy.save(update_fields=["condition"])
        return Response(serializers.LoanSerializer(loan).data)


class HoldViewSet(
    mixins.CreateModelMixin,
    mixins.ListModelMixin,
    mixins.DestroyModelMixin,
    viewsets.GenericViewSet,
):
    """Books that a member waits for."""

    serializer_class = serializers.HoldSerializer
    permission_classes = [IsAuthenticated]
    filter_backends = [DjangoFilterBackend]
    filterset_fields = ["status"]

    def get_queryset(self):
        return Hold.objects.select_related("book", "pickup").filter(member=self.kwargs["member_pk"])

    def perform_create(self, serializer) -> None:
        serializer.save(member_id=self.kwargs["member_pk"])


class FineViewSet(viewsets.ReadOnlyModelViewSet):
    queryset = Fine.objects.select_related("loan")
    serializer_class = serializers.FineSerializer
    permission_classes = [IsAdminUser]
    pagination_class = Pages
    filter_backends = [DjangoFilterBackend, OrderingFilter]
    filterset_fields = {"loan__member": ["exact"], "reason": ["exact"], "paid_on": ["isnull"]}
    ordering_fields = ["amount"]

    @action(detail=True, methods=["post"], serializer_class=serializers.PaymentSerializer)
    def pay(self, request, pk=None) -> Response:
        fine = self.get_object()
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        if serializer.validated_data["amount"] != fine.amount:
            raise ValidationError({"amount": f"The fine is {fine.amount}; pay it whole."})
        fine.paid_on = timezone.localdate()
        fine.save(update_fields=["paid_on"])
        return Response(serializers.FineSerializer(fine).data)
