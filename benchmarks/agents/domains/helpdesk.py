"""A help desk: tickets, their comments, and the agents who work on them."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from benchmarks.agents.domains.making import make_serializer, make_urls, make_viewset, step


class Team(models.Model):
    name = models.CharField(max_length=60)
    email = models.EmailField(blank=True)


class Agent(models.Model):
    name = models.CharField(max_length=80)
    email = models.EmailField()
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="agents")
    is_active = models.BooleanField(default=True)


class Contact(models.Model):
    name = models.CharField(max_length=80)
    email = models.EmailField()
    phone = models.CharField(max_length=30, blank=True)
    company = models.CharField(max_length=80, blank=True)


class Tag(models.Model):
    name = models.CharField(max_length=40, unique=True)


class Ticket(models.Model):
    class Status(models.TextChoices):
        NEW = "new", "New"
        OPEN = "open", "In progress"
        PENDING = "pending", "Waiting for the requester"
        SOLVED = "solved", "Solved"
        CLOSED = "closed", "Closed"

    class Priority(models.IntegerChoices):
        LOW = 1, "Low"
        NORMAL = 2, "Normal"
        HIGH = 3, "High"
        URGENT = 4, "Urgent"

    class Channel(models.TextChoices):
        EMAIL = "email", "Email"
        PHONE = "phone", "Phone"
        WEB = "web", "Web form"
        CHAT = "chat", "Chat"

    subject = models.CharField(max_length=200)
    description = models.TextField()
    requester = models.ForeignKey(Contact, on_delete=models.PROTECT, related_name="tickets")
    assignee = models.ForeignKey(
        Agent, null=True, blank=True, on_delete=models.SET_NULL, help_text="Empty until assigned."
    )
    team = models.ForeignKey(Team, null=True, blank=True, on_delete=models.SET_NULL)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.NEW)
    priority = models.IntegerField(choices=Priority.choices, default=Priority.NORMAL)
    channel = models.CharField(max_length=10, choices=Channel.choices, default=Channel.EMAIL)
    tags = models.ManyToManyField(Tag, blank=True)
    due_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)


class Comment(models.Model):
    ticket = models.ForeignKey(Ticket, on_delete=models.CASCADE, related_name="comments")
    body = models.TextField()
    is_internal = models.BooleanField(default=False, help_text="Visible to agents only.")
    created_at = models.DateTimeField(auto_now_add=True)


class Attachment(models.Model):
    ticket = models.ForeignKey(Ticket, on_delete=models.CASCADE, related_name="attachments")
    file = models.FileField(upload_to="tickets")


class Rating(models.Model):
    class Score(models.TextChoices):
        GOOD = "good", "Satisfied"
        BAD = "bad", "Dissatisfied"

    ticket = models.OneToOneField(Ticket, on_delete=models.CASCADE)
    score = models.CharField(max_length=4, choices=Score.choices)
    comment = models.TextField(blank=True)


class Article(models.Model):
    title = models.CharField(max_length=200)
    body = models.TextField()
    section = models.CharField(max_length=80)
    published = models.BooleanField(default=False)


class CannedResponse(models.Model):
    title = models.CharField(max_length=80)
    body = models.TextField()


class SlaPolicy(models.Model):
    name = models.CharField(max_length=80)
    priority = models.IntegerField(choices=Ticket.Priority.choices)
    first_response_minutes = models.PositiveIntegerField()
    resolution_minutes = models.PositiveIntegerField()

    class Meta:
        verbose_name = "SLA policy"
        verbose_name_plural = "SLA policies"


class Assignment(serializers.Serializer):
    assignee = serializers.PrimaryKeyRelatedField(queryset=Agent.objects.all())


class Merge(serializers.Serializer):
    into = serializers.PrimaryKeyRelatedField(queryset=Ticket.objects.all())


class TicketViewSet(
    make_viewset(
        Ticket,
        order=("-created_at", "id"),
        filters={
            "status": ["exact"],
            "priority": ["exact"],
            "assignee": ["exact", "isnull"],
            "team": ["exact"],
            "requester": ["exact"],
            "channel": ["exact"],
            "created_at": ["gte", "lte"],
        },
        search=["subject", "description"],
        read_only=("created_at",),
    )
):
    @step(serializer_class=Assignment)
    def assign(self, request, pk=None):
        return self.change(assignee=self.read()["assignee"])

    @step(serializer_class=Merge)
    def merge(self, request, pk=None):
        """Move the comments into another ticket and close this one."""
        self.get_object().comments.update(ticket=self.read()["into"])
        return self.change(status=Ticket.Status.CLOSED)

    @step()
    def resolve(self, request, pk=None):
        return self.change(status=Ticket.Status.SOLVED)

    @step()
    def reopen(self, request, pk=None):
        return self.change(status=Ticket.Status.OPEN)

    @step()
    def escalate(self, request, pk=None):
        return self.change(priority=Ticket.Priority.URGENT)

    @action(detail=True)
    def history(self, request, pk=None):
        """The audit log."""
        return Response([])

    @action(detail=False)
    def overdue(self, request):
        rows = self.get_queryset().filter(due_at__lt=timezone.now()).exclude(status="closed")
        return Response(self.get_serializer(rows, many=True).data)

    @action(detail=False)
    def statistics(self, request):
        """Ticket counts by status, team and day."""
        return Response({"total": Ticket.objects.count()})


class OfTicket(mixins.ListModelMixin, mixins.CreateModelMixin, viewsets.GenericViewSet):
    pagination_class = None

    def get_queryset(self):
        return self.queryset.filter(ticket=self.kwargs["ticket_pk"])

    def perform_create(self, serializer):
        serializer.save(ticket_id=self.kwargs["ticket_pk"])


class CommentViewSet(OfTicket):
    queryset = Comment.objects.order_by("id")
    serializer_class = make_serializer(Comment, ["id", "body", "is_internal", "created_at"])


class AttachmentViewSet(OfTicket):
    queryset = Attachment.objects.all()
    serializer_class = make_serializer(Attachment, ["id", "file"])


class ArticleViewSet(make_viewset(Article, search=["title", "body"], read_only=("published",))):
    """Knowledge base articles."""

    @step()
    def publish(self, request, pk=None):
        return self.change(published=True)

    @step()
    def unpublish(self, request, pk=None):
        return self.change(published=False)


urlpatterns = make_urls(
    ("tickets", TicketViewSet),
    (r"tickets/(?P<ticket_pk>\d+)/comments", CommentViewSet),
    (r"tickets/(?P<ticket_pk>\d+)/attachments", AttachmentViewSet),
    ("agents", make_viewset(Agent, filters=["team", "is_active"])),
    ("teams", make_viewset(Team)),
    ("contacts", make_viewset(Contact, filters=["email", "company"], search=["name", "email"])),
    ("tags", make_viewset(Tag)),
    ("ratings", make_viewset(Rating, filters=["score"], base=viewsets.ReadOnlyModelViewSet)),
    ("articles", ArticleViewSet),
    ("canned-responses", make_viewset(CannedResponse)),
    ("sla-policies", make_viewset(SlaPolicy)),
)
