from __future__ import annotations

from django.urls import include, path
from rest_framework_nested.routers import NestedSimpleRouter, SimpleRouter

from benchmarks.agents.loans import views

router = SimpleRouter()
router.register("branches", views.BranchViewSet)
router.register("authors", views.AuthorViewSet)
router.register("books", views.BookViewSet)
router.register("members", views.MemberViewSet)
router.register("loans", views.LoanViewSet, basename="loan")
router.register("fines", views.FineViewSet)
books = NestedSimpleRouter(router, "books", lookup="book")
books.register("copies", views.CopyViewSet, basename="book-copy")
members = NestedSimpleRouter(router, "members", lookup="member")
members.register("holds", views.HoldViewSet, basename="member-hold")

urlpatterns = [
    path("", include("drf_mcp.urls")),
    path("api/", include([*router.urls, *books.urls, *members.urls])),
]
