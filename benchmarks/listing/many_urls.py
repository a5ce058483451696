"""The URLconf of a project of many tools."""

from django.conf import settings

from benchmarks.listing.projects import Project

urlpatterns = Project("`IsAuthenticated`", settings.TOOLS).urlconf.urlpatterns
