"""Everything under ``/api/library/``."""

from __future__ import annotations

from django.urls import include, path
from rest_framework.routers import SimpleRouter

from example_project.library import views

router = SimpleRouter()
router.register("documents", views.DocumentViewSet, basename="document")

urlpatterns = [
    path("", include(router.urls)),
    path("naive_retriever/", views.NaiveRetrieverView.as_view()),
    path("bm25_retriever/", views.BM25RetrieverView.as_view()),
    path("contextual_compression_retriever/", views.CompressionRetrieverView.as_view()),
    path("multi_query_retriever/", views.MultiQueryRetrieverView.as_view()),
    path("ensemble_retriever/", views.EnsembleRetrieverView.as_view()),
    path("semantic_retriever/", views.SemanticRetrieverView.as_view()),
    path("health/", views.HealthView.as_view()),
    path("cache_stats/", views.CacheStatsView.as_view()),
]
