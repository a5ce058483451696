"""Views whose access rules are elsewhere than in REST framework's own views.

Lists that the handler builds itself, objects that the handler checks, fields that depend on the
caller's role, tenants that middleware sets, permissions of single actions, an APIView and a
function.
"""

from __future__ import annotations

from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from django.http import Http404, JsonResponse
from django.shortcuts import get_object_or_404
from django.urls import include, path, re_path
from oauth2_provider.contrib.rest_framework import OAuth2Authentication
from rest_framework import generics, mixins, serializers, viewsets
from rest_framework.authentication import SessionAuthentication, TokenAuthentication
from rest_framework.decorators import action, api_view, authentication_classes, permission_classes
from rest_framework.exceptions import PermissionDenied
from rest_framework.filters import OrderingFilter, SearchFilter
from rest_framework.pagination import PageNumberPagination
from rest_framework.permissions import AllowAny, BasePermission, IsAdminUser, IsAuthenticated
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.views import APIView

from drf_mcp.access.jwt import JWTAuthentication
from drf_mcp.contrib.prompts import Prompt
from drf_mcp.contrib.tokens.authentication import AgentTokenAuthentication
from drf_mcp.exposure import mcp_tool, mcp_viewset
from drf_mcp.views import MCPView
from example_project.shop.models import Customer, Order, Ticket

ISSUER, AUDIENCE = "https://login.shop.example/", "http://testserver/mcp"
KEY = ec.generate_private_key(ec.SECP256R1())


class Login(JWTAuthentication):
    """Accepts tokens that the tests sign, without a key server."""

    issuer = ISSUER
    audience = AUDIENCE
    algorithms = ("ES256",)

    def get_key(self, token: str) -> Any:
        return KEY.public_key()


def sign(**claims: Any) -> str:
    usual = {"iss": ISSUER, "aud": AUDIENCE, "exp": 4_000_000_000}
    kind = {"kid": "one", "typ": "at+jwt"}
    return jwt.encode({**usual, **claims}, KEY, "ES256", headers=kind)


# Ordered by their number of queries.
AUTHENTICATION = [
    TokenAuthentication,
    AgentTokenAuthentication,
    Login,
    OAuth2Authentication,
    SessionAuthentication,
]


class Pages(PageNumberPagination):
    page_size = 5


class NoteSerializer(serializers.ModelSerializer):
    class Meta:
        model = Ticket
        fields = ["id", "subject", "body", "status", "priority"]


@mcp_viewset(resource=True, dry_run=True)
class NoteViewSet(viewsets.ModelViewSet):
    """Notes of all users; `list` shows a user's own, and each handler checks its object."""

    queryset = Ticket.objects.order_by("pk")
    serializer_class = NoteSerializer
    authentication_classes = AUTHENTICATION
    permission_classes = [IsAuthenticated]

    def mine(self) -> Any:
        rows, user = self.get_queryset(), self.request.user
        return rows if user.is_staff else rows.filter(opened_by=user)

    def list(self, request):
        """List the notes of the caller."""
        return Response(self.get_serializer(self.mine(), many=True).data)

    def check(self, note: Ticket) -> Ticket:
        if note.opened_by != self.request.user and not self.request.user.is_staff:
            raise PermissionDenied("This note is of somebody else.")
        return note

    def retrieve(self, request, pk=None):
        """Get one note of the caller."""
        return Response(self.get_serializer(self.check(self.get_object())).data)

    def create(self, request):
        """Write a note."""
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        # The key does not depend on rows that were rolled back.
        key = Ticket.objects.latest("pk").pk + 1
        customer = Customer.objects.earliest("pk")
        serializer.save(pk=key, opened_by=request.user, customer=customer)
        return Response(serializer.data, status=201)

    def update(self, request, pk=None, partial=False):
        """Change a note of the caller."""
        note = self.check(self.get_object())
        serializer = self.get_serializer(note, data=request.data, partial=partial)
        serializer.is_valid(raise_exception=True)
        serializer.save()
        return Response(serializer.data)

    def destroy(self, request, pk=None):
        """Delete a note of the caller."""
        self.check(self.get_object()).delete()
        return Response(status=204)

    @action(detail=True, methods=["post"], permission_classes=[IsAdminUser])
    def close(self, request, pk=None):
        """Close a note; needs staff."""
        note = self.get_object()
        note.status = Ticket.Status.CLOSED
        note.save()
        return Response(self.get_serializer(note).data)

    @action(detail=False, permission_classes=[IsAdminUser])
    def urgent(self, request):
        """List the urgent notes; needs staff."""
        rows = self.get_queryset().filter(priority=Ticket.Priority.URGENT)
        return Response({"notes": self.get_serializer(rows, many=True).data})


def is_open(note: Any, user: Any) -> bool:
    return bool(user.is_staff or note.opened_by == user)


class OwnNotes(viewsets.ReadOnlyModelViewSet):
    """Notes of all users; something after the queryset leaves those of others out."""

    queryset = Ticket.objects.order_by("pk")
    serializer_class: Any = NoteSerializer
    authentication_classes = AUTHENTICATION
    permission_classes = [IsAuthenticated]

    def get_object(self):
        note = super().get_object()
        if not is_open(note, self.request.user):
            raise Http404
        return note


class OwnPages(Pages):
    page_size = 500

    def paginate_queryset(self, queryset, request, view=None):
        own = queryset if request.user.is_staff else queryset.filter(opened_by=request.user)
        return super().paginate_queryset(own, request, view)


class OwnRenderer(JSONRenderer):
    def render(self, data, accepted_media_type=None, renderer_context=None):
        if isinstance(data, list):
            user = renderer_context["request"].user
            own = Ticket.objects.all() if user.is_staff else Ticket.objects.filter(opened_by=user)
            keys = set(own.values_list("pk", flat=True))
            data = [row for row in data if row["id"] in keys]
        return super().render(data, accepted_media_type, renderer_context)


class MaskedNotes(NoteSerializer):
    def to_representation(self, instance):
        shown = super().to_representation(instance)
        return shown if is_open(instance, self.context["request"].user) else {}


@mcp_viewset(resource=True)
class ByPaginator(OwnNotes):
    pagination_class = OwnPages


@mcp_viewset(resource=True)
class BySerializer(OwnNotes):
    def get_serializer(self, *args, **kwargs):
        if kwargs.get("many") and args:
            args = ([note for note in args[0] if is_open(note, self.request.user)],)
        return super().get_serializer(*args, **kwargs)


@mcp_viewset(resource=True)
class ByDispatch(OwnNotes):
    def dispatch(self, request, *args, **kwargs):
        response = super().dispatch(request, *args, **kwargs)
        if isinstance(response.data, list):
            notes = Ticket.objects.in_bulk([row["id"] for row in response.data])
            user = self.request.user
            response.data = [row for row in response.data if is_open(notes[row["id"]], user)]
        return response


@mcp_viewset(resource=True)
class ByRenderer(OwnNotes):
    renderer_classes = [OwnRenderer]


@mcp_viewset(resource=True)
class ByRow(OwnNotes):
    serializer_class = MaskedNotes


@mcp_viewset(resource=True, aggregate=["id", "subject"])
class ByQueryset(OwnNotes):
    def get_queryset(self):
        rows, user = super().get_queryset(), self.request.user
        return rows if user.is_staff else rows.filter(opened_by=user)


@mcp_viewset(resource=True, aggregate=["id", "subject"])
class ByChosenPaginator(OwnNotes):
    def initial(self, request, *args, **kwargs):
        super().initial(request, *args, **kwargs)
        self.pagination_class = OwnPages


@mcp_viewset(resource=True, aggregate=["id", "subject"])
class ByAttribute(OwnNotes):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        own = self.get_serializer
        self.get_serializer = lambda rows, many=False: own(
            [note for note in rows if is_open(note, self.request.user)] if many else rows, many=many
        )


NARROWING = {
    "by_paginator": ByPaginator,
    "by_serializer": BySerializer,
    "by_dispatch": ByDispatch,
    "by_renderer": ByRenderer,
    "by_row": ByRow,
    "by_queryset": ByQueryset,
    "by_chosen_paginator": ByChosenPaginator,
    "by_attribute": ByAttribute,
}
# Those whose figures can be asked for.
FIGURES = ("by_queryset", "by_chosen_paginator", "by_attribute")


class ByRoleSerializer(serializers.ModelSerializer):
    """Shows the e-mail address to staff, and lets only staff write the tier."""

    class Meta:
        model = Customer
        fields = ["id", "name", "email", "tier", "country"]

    def get_fields(self):
        fields = super().get_fields()
        user = getattr(self.context.get("request"), "user", None)
        if not getattr(user, "is_staff", False):
            del fields["email"]
            fields["tier"].read_only = True
        return fields


class IsOwnerOrStaff(BasePermission):
    def has_object_permission(self, request, view, obj) -> bool:
        return bool(request.user.is_staff or obj.owner == request.user)


@mcp_viewset(resource=True, dry_run=True)
class ClientViewSet(
    mixins.RetrieveModelMixin,
    mixins.UpdateModelMixin,
    mixins.DestroyModelMixin,
    viewsets.GenericViewSet,
):
    """Customers, with fields by role; there is no list, and each object has an owner."""

    queryset = Customer.objects.order_by("pk")
    serializer_class = ByRoleSerializer
    authentication_classes = AUTHENTICATION
    permission_classes = [IsAuthenticated, IsOwnerOrStaff]


@mcp_viewset(resource=True)
class PaperViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet):
    """Orders; the handler of the list refuses all but staff."""

    class Serializer(serializers.ModelSerializer):
        class Meta:
            model = Order
            fields = ["id", "number", "status", "note"]

    queryset = Order.objects.order_by("pk")
    serializer_class = Serializer
    lookup_field = "number"
    authentication_classes = AUTHENTICATION
    permission_classes = [IsAuthenticated]
    pagination_class = Pages
    filter_backends = [SearchFilter, OrderingFilter]
    search_fields = ["number"]

    def list(self, request, *args, **kwargs):
        """List the orders; needs staff."""
        if not request.user.is_staff:
            raise PermissionDenied("Only staff list orders.")
        return super().list(request, *args, **kwargs)

    def get_object(self):
        order = super().get_object()
        if not self.request.user.is_staff and order.customer.owner != self.request.user:
            raise Http404
        return order


class IsOfTenant(BasePermission):
    """Allows staff, and the members of the tenant that middleware set."""

    message = "You are not of this tenant."

    def has_permission(self, request, view) -> bool:
        members = request.user.groups.filter(name=request.tenant)
        return request.user.is_staff or members.exists()


class TenantView:
    serializer_class = ByRoleSerializer
    authentication_classes = AUTHENTICATION
    permission_classes = [IsAuthenticated, IsOfTenant]
    pagination_class = Pages

    def get_queryset(self):
        return Customer.objects.filter(country=self.request.tenant).order_by("pk")


@mcp_tool(name="residents_list", resource=True)
class ResidentList(TenantView, generics.ListAPIView):
    """List the customers of a tenant."""


@mcp_viewset(name="resident", resource=True)
class ResidentDetail(TenantView, generics.RetrieveUpdateAPIView):
    """Get or change one customer of a tenant."""


@mcp_viewset(name="ledger", resource=True)
class LedgerView(APIView):
    """Sums for staff, and a write that the handler checks."""

    authentication_classes = AUTHENTICATION
    permission_classes = [IsAuthenticated]

    def get(self, request):
        if not request.user.is_staff:
            raise PermissionDenied("Only staff see sums.")
        return Response({"customers": Customer.objects.count(), "orders": Order.objects.count()})

    def post(self, request):
        customer = get_object_or_404(Customer, pk=request.data.get("customer"))
        if not request.user.is_superuser and customer.owner != request.user:
            raise PermissionDenied("This customer is of somebody else.")
        customer.is_active = not customer.is_active
        customer.save()
        return Response({"customer": customer.pk, "is_active": customer.is_active})


@mcp_tool(name="owner_of_order", resource=True)
@api_view(["GET"])
@authentication_classes(AUTHENTICATION)
@permission_classes([IsAuthenticated])
def owner_of_order(request, number):
    """Return the owner of an order, to staff and to the owner."""
    order = get_object_or_404(Order, number=number)
    if order.owner != request.user and not request.user.is_staff:
        raise Http404
    return Response({"number": number, "owner": order.owner.username})


@mcp_tool(name="opening_hours", resource=True)
class OpeningHours(APIView):
    """Return the opening hours; needs no credential."""

    authentication_classes = AUTHENTICATION
    permission_classes = [AllowAny]

    def get(self, request):
        return Response({"monday": "9-17", "you": str(request.user)})


class TenantMiddleware:
    """Sets the tenant from the path, and refuses one tenant to every caller."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        begin, _, rest = request.path_info.strip("/").partition("/")
        if begin == "tenants":
            request.tenant = rest.partition("/")[0]
            if request.tenant == "XX":
                return JsonResponse({"detail": "This tenant is locked."}, status=403)
        return self.get_response(request)


class AboutNote(serializers.Serializer):
    note = serializers.PrimaryKeyRelatedField(queryset=Ticket.objects.all())


class AboutPaper(serializers.Serializer):
    paper = serializers.SlugRelatedField(queryset=Order.objects.all(), slug_field="number")


PROMPTS = [
    Prompt("about_note", text="Answer: {{ note.body }}", serializer_class=AboutNote),
    Prompt("about_paper", text="Check: {{ paper.note }}", serializer_class=AboutPaper),
    Prompt("read_note", text="Sum it up.", serializer_class=AboutNote, resources=["notes/{note}/"]),
]
router = SimpleRouter()
router.register("notes", NoteViewSet, basename="note")
router.register("clients", ClientViewSet, basename="client")
router.register("papers", PaperViewSet, basename="paper")
for name, view in NARROWING.items():
    router.register(f"narrowed/{name}", view, basename=name)
urlpatterns = [
    path("", include("drf_mcp.urls")),
    re_path(r"^mcp/search/?$", MCPView.as_view(tool_search=True)),
    path("tenants/<str:tenant>/residents/", ResidentList.as_view()),
    path("tenants/<str:tenant>/residents/<int:pk>/", ResidentDetail.as_view()),
    path("ledger/", LedgerView.as_view()),
    path("owners/<str:number>/", owner_of_order),
    path("hours/", OpeningHours.as_view()),
    *router.urls,
]
