from rest_framework import permissions, serializers, viewsets
from rest_framework.generics import RetrieveAPIView
from rest_framework.response import Response

from .models import Project, Task


class ProjectSerializer(serializers.ModelSerializer):
    class Meta:
        model = Project
        fields = ["id", "name"]


class TaskSerializer(serializers.ModelSerializer):
    class Meta:
        model = Task
        fields = ["id", "project", "title", "status", "due"]


class CountsSerializer(serializers.Serializer):
    projects = serializers.IntegerField()
    tasks = serializers.IntegerField()


class ProjectViewSet(viewsets.ModelViewSet):
    """Projects, each with tasks."""

    queryset = Project.objects.all()
    serializer_class = ProjectSerializer
    permission_classes = [permissions.IsAuthenticated]


class TaskViewSet(viewsets.ModelViewSet):
    """What is to be done."""

    queryset = Task.objects.all()
    serializer_class = TaskSerializer
    permission_classes = [permissions.IsAuthenticated]


class CountsView(RetrieveAPIView):
    """How many projects and tasks there are."""

    serializer_class = CountsSerializer
    permission_classes = [permissions.IsAuthenticated]

    def retrieve(self, request, *args, **kwargs):
        return Response({"projects": Project.objects.count(), "tasks": Task.objects.count()})
