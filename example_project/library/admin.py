"""The library in Django's admin site."""

from __future__ import annotations

from django.contrib import admin

from example_project.library.models import Document


@admin.register(Document)
class DocumentAdmin(admin.ModelAdmin):
    list_display = ["name", "title"]
    search_fields = ["name", "title", "text"]
