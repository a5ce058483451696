"""The pages on which people approve calls, for example below the endpoint's path::

path("mcp/approvals/", include("drf_mcp.contrib.rules.urls")),
"""

from django.urls import path

from drf_mcp.contrib.rules.views import ProposalPage, ProposalsPage

app_name = "drf_mcp_rules"
urlpatterns = [
    path("", ProposalsPage.as_view(), name="proposals"),
    path("<str:proposal_id>/", ProposalPage.as_view(), name="proposal"),
]
