"""Papers that are scanned and filed, after the API and the manual of paperless-ngx 2.20."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.filters import OrderingFilter, SearchFilter
from rest_framework.generics import GenericAPIView
from rest_framework.response import Response

from benchmarks.agents.domains.making import ObjectViewSet, make_serializer, make_urls, step


class Matching(models.Model):
    class Algorithm(models.IntegerChoices):
        NONE = 0, "None"
        ANY = 1, "Any word"
        ALL = 2, "All words"
        LITERAL = 3, "Exact match"
        REGEX = 4, "Regular expression"
        FUZZY = 5, "Fuzzy word"
        AUTO = 6, "Automatic"

    name = models.CharField("name", max_length=128)
    match = models.CharField("match", max_length=256, blank=True)
    matching_algorithm = models.PositiveSmallIntegerField(
        "matching algorithm", choices=Algorithm.choices, default=Algorithm.ANY
    )

    class Meta:
        abstract = True
        ordering = ("name",)


class Correspondent(Matching):
    pass


class FileTag(Matching):
    color = models.CharField("color", max_length=7, default="#a6cee3")
    is_inbox_tag = models.BooleanField(
        default=False,
        help_text="Marks this tag as an inbox tag: All newly consumed documents will be tagged "
        "with inbox tags.",
    )

    class Meta(Matching.Meta):
        verbose_name = "tag"


class DocumentType(Matching):
    class Meta(Matching.Meta):
        verbose_name = "document type"


class StoragePath(Matching):
    path = models.TextField("path")

    class Meta(Matching.Meta):
        verbose_name = "storage path"


class FiledDocument(models.Model):
    title = models.CharField("title", max_length=128, blank=True)
    correspondent = models.ForeignKey(
        Correspondent, models.SET_NULL, blank=True, null=True, related_name="documents"
    )
    document_type = models.ForeignKey(
        DocumentType, models.SET_NULL, blank=True, null=True, related_name="documents"
    )
    storage_path = models.ForeignKey(
        StoragePath, models.SET_NULL, blank=True, null=True, related_name="documents"
    )
    tags = models.ManyToManyField(FileTag, related_name="documents", blank=True)
    content = models.TextField(
        "content",
        blank=True,
        help_text="The raw, text-only data of the document. This field is primarily used for "
        "searching.",
    )
    page_count = models.PositiveIntegerField(
        "page count", null=True, help_text="The number of pages of the document."
    )
    created = models.DateField("created", default=timezone.localdate)
    added = models.DateTimeField("added", default=timezone.now, editable=False)
    archive_serial_number = models.PositiveIntegerField(
        "archive serial number",
        blank=True,
        null=True,
        unique=True,
        help_text="The position of this document in your physical document archive.",
    )

    class Meta:
        verbose_name = "document"


class DocumentNote(models.Model):
    document = models.ForeignKey(FiledDocument, models.CASCADE, related_name="notes")
    note = models.TextField("content", blank=True)
    created = models.DateTimeField("created", default=timezone.now)

    class Meta:
        verbose_name = "document note"


class SavedView(models.Model):
    name = models.CharField("name", max_length=128)
    sort_field = models.CharField("sort field", max_length=128, blank=True)
    sort_reverse = models.BooleanField("sort reverse", default=False)

    class Meta:
        verbose_name = "saved view"


class ShareLink(models.Model):
    document = models.ForeignKey(FiledDocument, models.CASCADE, related_name="share_links")
    slug = models.SlugField("slug", unique=True, editable=False)
    expiration = models.DateTimeField("expiration", blank=True, null=True)

    class Meta:
        verbose_name = "share link"


class MailAccount(models.Model):
    name = models.CharField("name", max_length=256)
    imap_server = models.CharField("IMAP server", max_length=256)
    username = models.CharField("username", max_length=256)
    password = models.TextField("password")

    class Meta:
        verbose_name = "mail account"


class MailRule(models.Model):
    class Action(models.IntegerChoices):
        DELETE = 1, "Delete"
        MOVE = 2, "Move to specified folder"
        MARK_READ = 3, "Mark as read, don't process read mails"
        FLAG = 4, "Flag the mail, don't process flagged mails"

    name = models.CharField("name", max_length=256)
    account = models.ForeignKey(MailAccount, models.CASCADE, related_name="rules")
    enabled = models.BooleanField("enabled", default=True)
    folder = models.CharField("folder", max_length=256, default="INBOX")
    filter_from = models.CharField("filter from", max_length=256, blank=True)
    maximum_age = models.PositiveIntegerField(
        "maximum age", default=30, help_text="Specified in days."
    )
    action = models.PositiveSmallIntegerField("action", choices=Action.choices, default=3)
    assign_tags = models.ManyToManyField(FileTag, blank=True)

    class Meta:
        verbose_name = "mail rule"


class Workflow(models.Model):
    name = models.CharField("name", max_length=256, unique=True)
    order = models.IntegerField("order", default=0)
    enabled = models.BooleanField("enabled", default=True)


class CustomField(models.Model):
    class DataType(models.TextChoices):
        STRING = "string", "String"
        DATE = "date", "Date"
        MONETARY = "monetary", "Monetary"
        SELECT = "select", "Select"

    name = models.CharField(max_length=128)
    data_type = models.CharField("data type", max_length=50, choices=DataType.choices)

    class Meta:
        verbose_name = "custom field"


class BackgroundTask(models.Model):
    class Status(models.TextChoices):
        PENDING = "pending", "Pending"
        STARTED = "started", "Started"
        SUCCESS = "success", "Success"
        FAILURE = "failure", "Failure"

    task_file_name = models.CharField("task filename", max_length=255, blank=True)
    status = models.CharField("task state", max_length=30, choices=Status.choices)
    acknowledged = models.BooleanField("acknowledged", default=False)
    date_created = models.DateTimeField("created", default=timezone.now)

    class Meta:
        verbose_name = "task"


class Mailed(serializers.Serializer):
    addresses = serializers.CharField(help_text="Comma-separated email addresses.")
    subject = serializers.CharField()
    message = serializers.CharField()


class Uploaded(serializers.Serializer):
    document = serializers.FileField()
    title = serializers.CharField(required=False)


class Documents(serializers.Serializer):
    documents = serializers.ListField(child=serializers.IntegerField())


class Rotation(Documents):
    degrees = serializers.IntegerField()


class Trash(Documents):
    action = serializers.ChoiceField(["restore", "empty"])


class FiledObjectViewSet(ObjectViewSet):
    filter_backends = [DjangoFilterBackend, OrderingFilter]


class CorrespondentViewSet(FiledObjectViewSet):
    queryset = Correspondent.objects.all()
    serializer_class = make_serializer(Correspondent)
    filterset_fields = {"name": ["icontains", "istartswith"]}


class FileTagViewSet(FiledObjectViewSet):
    queryset = FileTag.objects.all()
    serializer_class = make_serializer(FileTag)
    filterset_fields = {"name": ["icontains"], "is_inbox_tag": ["exact"]}


class DocumentTypeViewSet(FiledObjectViewSet):
    queryset = DocumentType.objects.all()
    serializer_class = make_serializer(DocumentType)
    filterset_fields = {"name": ["icontains"]}


class StoragePathViewSet(FiledObjectViewSet):
    queryset = StoragePath.objects.all()
    serializer_class = make_serializer(StoragePath)
    filterset_fields = {"name": ["icontains"], "path": ["icontains"]}

    @action(detail=False, methods=["post"])
    def test(self, request):
        """Test storage path against a document"""
        return Response("")


class FiledDocumentViewSet(
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    mixins.UpdateModelMixin,
    mixins.DestroyModelMixin,
    viewsets.GenericViewSet,
):
    queryset = FiledDocument.objects.order_by("-created")
    serializer_class = make_serializer(FiledDocument)
    http_method_names = ["get", "post", "patch", "delete", "head", "options"]
    pagination_class = ObjectViewSet.pagination_class
    filter_backends = [DjangoFilterBackend, SearchFilter, OrderingFilter]
    filterset_fields = {
        "correspondent": ["exact", "isnull"],
        "document_type": ["exact", "isnull"],
        "storage_path": ["exact", "isnull"],
        "tags": ["exact"],
        "created": ["gte", "lte"],
        "added": ["gte", "lte"],
        "archive_serial_number": ["exact", "isnull"],
    }
    search_fields = ["title", "correspondent__name", "content"]
    ordering_fields = ["title", "created", "added", "archive_serial_number", "page_count"]

    @action(detail=True)
    def metadata(self, request, pk=None):
        return Response({})

    @action(detail=True)
    def suggestions(self, request, pk=None):
        return Response({})

    @action(detail=True)
    def preview(self, request, pk=None):
        return Response({})

    @action(detail=True)
    def thumb(self, request, pk=None):
        return Response({})

    @action(detail=True)
    def download(self, request, pk=None):
        return Response({})

    @action(detail=True, name="Audit Trail")
    def history(self, request, pk=None):
        return Response([])

    @step(serializer_class=Mailed, url_path="email")
    def email_document(self, request, pk=None):
        return Response({"message": "Email sent"})

    @action(detail=False, name="Get Next ASN")
    def next_asn(self, request):
        return Response(1)


class DocumentNoteViewSet(
    mixins.ListModelMixin,
    mixins.CreateModelMixin,
    mixins.DestroyModelMixin,
    viewsets.GenericViewSet,
):
    queryset = DocumentNote.objects.order_by("-created")
    serializer_class = make_serializer(DocumentNote, ["id", "note", "created"])
    pagination_class = None

    def get_queryset(self):
        return self.queryset.filter(document=self.kwargs["document_pk"])


class SavedViewViewSet(FiledObjectViewSet):
    queryset = SavedView.objects.all()
    serializer_class = make_serializer(SavedView)


class ShareLinkViewSet(FiledObjectViewSet):
    queryset = ShareLink.objects.all()
    serializer_class = make_serializer(ShareLink)
    filterset_fields = {"document": ["exact"], "expiration": ["gte", "lte"]}


class MailAccountViewSet(FiledObjectViewSet):
    queryset = MailAccount.objects.all()
    serializer_class = make_serializer(MailAccount)

    @step(serializer_class=serializers.Serializer)
    def process(self, request, pk=None):
        """Manually process the selected mail account for new messages."""
        return Response({"result": "OK"})


class MailRuleViewSet(FiledObjectViewSet):
    queryset = MailRule.objects.all()
    serializer_class = make_serializer(MailRule)


class WorkflowViewSet(FiledObjectViewSet):
    queryset = Workflow.objects.all()
    serializer_class = make_serializer(Workflow)


class CustomFieldViewSet(FiledObjectViewSet):
    queryset = CustomField.objects.all()
    serializer_class = make_serializer(CustomField)


class BackgroundTaskViewSet(viewsets.ReadOnlyModelViewSet):
    queryset = BackgroundTask.objects.all()
    serializer_class = make_serializer(BackgroundTask)
    filter_backends = [DjangoFilterBackend]
    filterset_fields = {"status": ["exact"], "acknowledged": ["exact"]}

    @action(detail=False, methods=["post"], serializer_class=serializers.Serializer)
    def acknowledge(self, request):
        return Response({"result": 0})

    @action(detail=False)
    def active(self, request):
        """Currently pending and running tasks (capped at 50)."""
        return Response([])


class LogViewSet(viewsets.ViewSet):
    def list(self, request):
        """Logs view"""
        return Response([])

    def retrieve(self, request, pk=None):
        """Single log view"""
        return Response([])


class OfDocuments(viewsets.GenericViewSet):
    serializer_class = Documents

    def create(self, request):
        self.get_serializer(data=request.data).is_valid(raise_exception=True)
        return Response({"result": "OK"})


class MergeDocuments(OfDocuments):
    pass


class RotateDocuments(OfDocuments):
    serializer_class = Rotation


class PostDocument(OfDocuments):
    serializer_class = Uploaded


class StatisticsViewSet(viewsets.ViewSet):
    def list(self, request):
        return Response({"documents_total": FiledDocument.objects.count()})


class TrashViewSet(mixins.ListModelMixin, OfDocuments, GenericAPIView):
    queryset = FiledDocument.objects.none()
    pagination_class = ObjectViewSet.pagination_class

    def get_serializer_class(self):
        return Trash if self.action == "create" else FiledDocumentViewSet.serializer_class


urlpatterns = make_urls(
    ("correspondents", CorrespondentViewSet),
    ("document_types", DocumentTypeViewSet),
    ("documents/post_document", PostDocument),
    ("documents/merge", MergeDocuments),
    ("documents/rotate", RotateDocuments),
    ("documents", FiledDocumentViewSet),
    (r"documents/(?P<document_pk>\d+)/notes", DocumentNoteViewSet),
    ("logs", LogViewSet),
    ("tags", FileTagViewSet),
    ("saved_views", SavedViewViewSet),
    ("storage_paths", StoragePathViewSet),
    ("tasks", BackgroundTaskViewSet),
    ("mail_accounts", MailAccountViewSet),
    ("mail_rules", MailRuleViewSet),
    ("share_links", ShareLinkViewSet),
    ("workflows", WorkflowViewSet),
    ("custom_fields", CustomFieldViewSet),
    ("statistics", StatisticsViewSet),
    ("trash", TrashViewSet),
)
