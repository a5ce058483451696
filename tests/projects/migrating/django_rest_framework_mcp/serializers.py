from rest_framework import serializers

from .models import Customer, Post


class PostSerializer(serializers.ModelSerializer):
    class Meta:
        model = Post
        fields = ["id", "title", "content"]


class SignedPostSerializer(PostSerializer):
    signed = serializers.BooleanField(default=False, help_text="Adds the author's name.")

    class Meta(PostSerializer.Meta):
        fields = [*PostSerializer.Meta.fields, "signed"]


class PostListSerializer(serializers.ListSerializer):
    child = PostSerializer()


class CustomerSerializer(serializers.ModelSerializer):
    class Meta:
        model = Customer
        fields = ["id", "name", "email", "is_active"]
