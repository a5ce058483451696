"""Projects and tasks."""

from django.db import models


class Project(models.Model):
    name = models.CharField(max_length=100)

    class Meta:
        app_label = "tests"
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.name


class Task(models.Model):
    class Status(models.TextChoices):
        OPEN = "open", "To be done"
        DONE = "done", "Done"

    project = models.ForeignKey(Project, models.CASCADE, related_name="tasks")
    title = models.CharField(max_length=200)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.OPEN)
    due = models.DateField(null=True, blank=True)

    class Meta:
        app_label = "tests"
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.title


def make_rows(user) -> None:
    project = Project.objects.create(pk=1, name="Move")
    Task.objects.create(pk=1, project=project, title="Pack the books")


# Calls of agents before the move: the tool and its arguments.
WRITES = [
    ("projects_create", {"id": 0, "name": "Paint"}),
    ("projects_partial_update", {"id__path": 1, "name": "Move out"}),
    ("tasks_create", {"id": 0, "project": 1, "title": "Call the van", "due": "2026-12-01"}),
    ("tasks_partial_update", {"id__path": 1, "status": "done"}),
]
