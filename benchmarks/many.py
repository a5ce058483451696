"""A project of many tools under stock permissions."""

from __future__ import annotations

from types import ModuleType

from django.urls import include, path
from rest_framework.permissions import AllowAny, DjangoModelPermissions, IsAuthenticated
from rest_framework.routers import SimpleRouter
from rest_framework.viewsets import ModelViewSet

from drf_mcp.views import MCPView
from example_project.shop.models import Customer, Order
from example_project.shop.serializers import CustomerSerializer, OrderSerializer

MODELS = ((Order, OrderSerializer), (Customer, CustomerSerializer))
# Only `AllowAny` shows a stranger all tools.
SIGNED_IN, ANYBODY = (IsAuthenticated, DjangoModelPermissions), (AllowAny,)
METHODS = ["get", "post"]
# list, create, retrieve
TOOLS_PER_VIEWSET = 3


def make_urlconf(tools: int, permissions: tuple[type, ...] = SIGNED_IN) -> ModuleType:
    """Return the URLconf of a project with this many tools, a multiple of three."""
    router = SimpleRouter()
    for number in range(tools // TOOLS_PER_VIEWSET):
        model, serializer_class = MODELS[number % 2]
        members = {
            "__doc__": f"Things of kind {number}.",
            "queryset": model._default_manager.all(),
            "serializer_class": serializer_class,
            "permission_classes": [permissions[number // 2 % len(permissions)]],
            "http_method_names": METHODS,
        }
        viewset = type(f"Things{number}", (ModelViewSet,), members)
        router.register(f"things-{number}", viewset, basename=f"things-{number}")
    module = ModuleType(f"benchmarks.project_of_{tools}")
    module.urlpatterns = [  # type: ignore[attr-defined]
        path("mcp", MCPView.as_view()),
        path("api/", include(router.urls)),
    ]
    return module
