from __future__ import annotations

from rest_framework import serializers

from benchmarks.agents.loans.models import Author, Book, Branch, Copy, Fine, Hold, Loan, Member


class BranchSerializer(serializers.ModelSerializer):
    class Meta:
        model = Branch
        fields = "__all__"


class AuthorSerializer(serializers.ModelSerializer):
    class Meta:
        model = Author
        fields = ["id", "name", "born"]


class BookSerializer(serializers.ModelSerializer):
    author_names = serializers.SlugRelatedField(
        source="authors", slug_field="name", many=True, read_only=True
    )

    class Meta:
        model = Book
        fields = [
            "isbn",
            "title",
            "authors",
            "author_names",
            "language",
            "published",
            "pages",
            "replacement_cost",
            "summary",
            "cover",
        ]
        read_only_fields = ["cover"]


class CoverSerializer(serializers.ModelSerializer):
    class Meta:
        model = Book
        fields = ["cover"]
        extra_kwargs = {"cover": {"required": True, "allow_empty_file": False}}


class CopySerializer(serializers.ModelSerializer):
    branch = serializers.SlugRelatedField(slug_field="slug", queryset=Branch.objects.all())
    on_loan = serializers.SerializerMethodField()

    class Meta:
        model = Copy
        fields = ["id", "barcode", "branch", "condition", "reference_only", "acquired", "on_loan"]

    def get_on_loan(self, copy: Copy) -> bool:
        return copy.loans.filter(returned_at=None).exists()


class MemberSerializer(serializers.ModelSerializer):
    home_branch = serializers.SlugRelatedField(slug_field="slug", queryset=Branch.objects.all())

    class Meta:
        model = Member
        fields = ["id", "card_number", "name", "email", "kind", "home_branch", "joined", "blocked"]
        read_only_fields = ["blocked"]


class LoanSerializer(serializers.ModelSerializer):
    title = serializers.CharField(source="copy.book.title", read_only=True)
    member_name = serializers.CharField(source="member.name", read_only=True)

    class Meta:
        model = Loan
        fields = [
            "id",
            "copy",
            "title",
            "member",
            "member_name",
            "borrowed_at",
            "due",
            "returned_at",
            "renewals",
        ]
        read_only_fields = ["borrowed_at", "returned_at", "renewals"]

    def validate_copy(self, copy: Copy) -> Copy:
        if copy.reference_only:
            raise serializers.ValidationError("This copy may not be taken home.")
        if copy.loans.filter(returned_at=None).exists():
            raise serializers.ValidationError("This copy is on loan already.")
        return copy

    def validate_member(self, member: Member) -> Member:
        if member.blocked:
            raise serializers.ValidationError("This member is blocked.")
        return member


class ReturnSerializer(serializers.Serializer):
    condition = serializers.ChoiceField(choices=Copy.Condition.choices)
    returned_on = serializers.DateField(required=False)


class RenewSerializer(serializers.Serializer):
    days = serializers.IntegerField(min_value=1, max_value=28, default=14)


class HoldSerializer(serializers.ModelSerializer):
    book = serializers.SlugRelatedField(slug_field="isbn", queryset=Book.objects.all())
    pickup = serializers.SlugRelatedField(slug_field="slug", queryset=Branch.objects.all())

    class Meta:
        model = Hold
        fields = ["id", "book", "pickup", "status", "placed_at"]
        read_only_fields = ["status", "placed_at"]


class FineSerializer(serializers.ModelSerializer):
    class Meta:
        model = Fine
        fields = ["id", "loan", "amount", "reason", "paid_on"]
        read_only_fields = ["paid_on"]


class PaymentSerializer(serializers.Serializer):
    amount = serializers.DecimalField(max_digits=6, decimal_places=2)
    method = serializers.ChoiceField(choices=["cash", "card", "transfer"])
