from rest_framework.decorators import action
from rest_framework.permissions import IsAuthenticated
from rest_framework.response import Response
from rest_framework.viewsets import ModelViewSet

from drf_mcp import mcp_tool, mcp_viewset

from ..models import Customer, Post
from ..serializers import (
    CustomerSerializer,
    PostListSerializer,
    PostSerializer,
)


@mcp_viewset()
class PostViewSet(ModelViewSet):
    queryset = Post.objects.all()
    serializer_class = PostSerializer
    permission_classes = [IsAuthenticated]

    def perform_create(self, serializer):
        serializer.save(author=self.request.user.username)

    @mcp_tool(
        name="write_post",
        title="Write a post",
        description="Write a post, signed where that is asked for.",
        body={"signed": {"type": "boolean", "description": "Adds the author's name."}},
    )
    def create(self, request, *args, **kwargs):
        if request.data.pop("signed", False):
            request.data["content"] += f"\n\n{request.user}"
        return super().create(request, *args, **kwargs)

    @mcp_tool(description="Turn a post's title round.")
    @action(detail=True, methods=["post"])
    def reverse(self, request, pk=None):
        post = self.get_object()
        post.title = post.title[::-1]
        post.save()
        return Response(self.get_serializer(post).data)

    @mcp_tool(name="write_posts")
    @action(detail=False, methods=["post"], serializer_class=PostListSerializer)
    def bulk_create(self, request):
        serializer = PostListSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        self.perform_create(serializer)
        return Response(serializer.data, status=201)

    @mcp_tool()
    @action(detail=False)
    def mine(self, request):
        posts = self.get_queryset().filter(author=request.user.username)
        return Response(self.get_serializer(posts, many=True).data)


@mcp_viewset(name="customer_management", actions=["list", "retrieve", "deactivate"])
class CustomerViewSet(ModelViewSet):
    queryset = Customer.objects.all()
    serializer_class = CustomerSerializer
    permission_classes = [IsAuthenticated]

    @mcp_tool(
        name="deactivate_customer",
        description="Close a customer's account.",
    )
    @action(detail=True, methods=["post"])
    def deactivate(self, request, pk=None):
        customer = self.get_object()
        customer.is_active = False
        customer.save()
        return Response(self.get_serializer(customer).data)
