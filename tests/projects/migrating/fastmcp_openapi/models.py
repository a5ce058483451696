"""Books and their authors."""

from django.db import models


class Author(models.Model):
    name = models.CharField(max_length=100)

    class Meta:
        app_label = "tests"
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.name


class LibraryBook(models.Model):
    title = models.CharField(max_length=200)
    author = models.ForeignKey(Author, models.CASCADE, related_name="books")
    year = models.IntegerField(help_text="Of the first edition.")
    is_lent = models.BooleanField(default=False)

    class Meta:
        app_label = "tests"
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.title


def make_rows(user) -> None:
    author = Author.objects.create(pk=1, name="Ursula K. Le Guin")
    LibraryBook.objects.create(pk=1, title="The Dispossessed", author=author, year=1974)


# Calls of agents before the move: the tool and its arguments.
WRITES = [
    ("books_create", {"id": 0, "title": "Lavinia", "author": 1, "year": 2008}),
    ("books_partial_update", {"id__path": 1, "year": 1975}),
    ("books_lend_create", {"id": 1}),
]
