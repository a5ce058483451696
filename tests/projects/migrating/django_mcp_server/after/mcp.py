from drf_mcp import registry

from ..views import LocationCreateView, LocationListView, LocationView
from .views import BirdViewSet

registry.register(LocationListView, name="locations")
registry.register(LocationCreateView, name="locations")
registry.register(LocationView, actions=["update"], name="locations", description="Change a place.")
registry.register(
    LocationView, actions=["destroy"], name="locations", description="Delete a place."
)
registry.register(BirdViewSet)
