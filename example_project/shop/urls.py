"""Everything under ``/api/``."""

from __future__ import annotations

from django.urls import include, path, re_path
from rest_framework.routers import DefaultRouter

from example_project.shop import views

router = DefaultRouter()
router.register("customers", views.CustomerViewSet)
router.register("products", views.ProductViewSet)
router.register("orders", views.OrderViewSet)

customer_orders = views.CustomerOrderViewSet.as_view({"get": "list", "post": "create"})
customer_order = views.CustomerOrderViewSet.as_view({"get": "retrieve"})

urlpatterns = [
    path("", include(router.urls)),
    path("customers/<int:customer_pk>/orders/", customer_orders, name="customer-order-list"),
    path(
        "customers/<int:customer_pk>/orders/<int:pk>/", customer_order, name="customer-order-detail"
    ),
    path("tickets/", views.TicketList.as_view(), name="ticket-list"),
    path("tickets/<int:pk>/", views.TicketDetail.as_view(), name="ticket-detail"),
    path("stats/", views.stats, name="stats"),
    path("quote/", views.QuoteView.as_view(), name="quote"),
    re_path(r"^(?P<version>v[0-9]+)/status/$", views.StatusView.as_view(), name="status"),
]
