"""A blog, and the customers of its shop."""

from django.db import models


class Post(models.Model):
    title = models.CharField(max_length=100)
    content = models.TextField(help_text="Markdown.")
    author = models.CharField(max_length=150)

    class Meta:
        app_label = "tests"
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.title


class Customer(models.Model):
    name = models.CharField(max_length=100)
    email = models.EmailField()
    is_active = models.BooleanField(default=True)

    class Meta:
        app_label = "tests"
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.name


def make_rows(user) -> None:
    Post.objects.create(pk=1, title="Beginners", content="Begin.", author=user.username)
    Customer.objects.create(pk=1, name="Josh", email="josh@mail.example")


# Calls of agents before the move: the tool and its arguments.
WRITES = [
    ("write_post", {"body": {"title": "More", "content": "Go on.", "signed": True}}),
    ("write_posts", {"body": [{"title": "One", "content": "1"}, {"title": "Two", "content": "2"}]}),
    ("reverse_posts", {"kwargs": {"pk": "1"}}),
    ("partial_update_posts", {"kwargs": {"pk": "1"}, "body": {"title": "A", "content": "B"}}),
    ("update_posts", {"kwargs": {"pk": "1"}, "body": {"title": "C", "content": "D"}}),
    ("destroy_posts", {"kwargs": {"pk": "1"}}),
    ("deactivate_customer", {"kwargs": {"pk": "1"}}),
]
