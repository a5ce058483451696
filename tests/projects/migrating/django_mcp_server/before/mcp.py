from mcp_server import (
    MCPToolset,
    ModelQueryToolset,
    drf_publish_create_mcp_tool,
    drf_publish_destroy_mcp_tool,
    drf_publish_list_mcp_tool,
    drf_publish_update_mcp_tool,
    drf_serialize_output,
)

from ..models import Bird
from ..serializers import BirdSerializer
from ..views import LocationCreateView, LocationListView, LocationView

drf_publish_list_mcp_tool(LocationListView)
drf_publish_create_mcp_tool(LocationCreateView)
drf_publish_update_mcp_tool(LocationView, instructions="Change a place.")
drf_publish_destroy_mcp_tool(LocationView, instructions="Delete a place.")


class BirdQuery(ModelQueryToolset):
    model = Bird

    def get_queryset(self):
        return super().get_queryset().filter(location__isnull=False)


class Counting(MCPToolset):
    @drf_serialize_output(BirdSerializer)
    def increment_species(self, name: str, amount: int = 1):
        """Add to the count of a species, which is begun where it has none."""
        bird, _ = Bird.objects.get_or_create(species=name)
        bird.count += amount
        bird.save()
        return bird
