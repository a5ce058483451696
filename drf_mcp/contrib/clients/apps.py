from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ClientsConfig(AppConfig):
    name = "drf_mcp.contrib.clients"
    label = "drf_mcp_clients"
    verbose_name = _("Typed clients")
