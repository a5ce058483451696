"""The API, and the endpoint of the package."""

from django.conf import settings

from benchmarks.peers.doors import find_door
from benchmarks.peers.project import make_urlpatterns

urlpatterns = make_urlpatterns()
urlpatterns += find_door(settings.PEER).make_urlpatterns()
