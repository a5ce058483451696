"""The endpoints of the nasty project, with requests that they accept."""

from __future__ import annotations

from django.urls import include, path, re_path
from rest_framework.routers import SimpleRouter

from tests.introspection.nasty import annotated, fields, files, renamed, views
from tests.introspection.nasty.samples import Nasty, Sample, bodies, file

PNG, PDF = files.png(), b"%PDF-1.4 x"
PETS = tuple(
    Sample(pet, arguments={"body": pet})
    for pet in ({"kind": "cat", "lives": 9}, {"kind": "dog", "tricks": []})
)
URI = "data:application/pdf;name=a%20b.pdf;base64," + files.encoded(PDF)
SCALARS = {
    "yes": "true",
    "perhaps": None,
    "word": "",
    "mail": "a@b.example",
    "code": "AB1",
    "named": "2026-x",
    "slug": "a-b",
    "link": "http://x.example/?q=1",
    "key": "12345678-1234-5678-1234-567812345678",
    "address": "::1",
    "number": "3",
    "big": 2**60,
    "ratio": "1e3",
    "price": 1.5,
    "moment": "2026-01-02T03:04",
    "day": "02.01.2026",
    "hour": "03:04:05.5",
    "length": "3 days, 1:00:00",
}
ECHOES = [
    Nasty("scalars", views.echo(fields.Scalars), samples=bodies({}, SCALARS)),
    Nasty("scalars_created", views.created(fields.Scalars), samples=bodies({}, SCALARS)),
    Nasty(
        "choices",
        views.echo(fields.Choices),
        samples=bodies(
            {"size": "", "level": "2", "mixed": None, "grouped": "a", "days": [], "none": ""},
            {"size": "l", "level": 1, "mixed": "1", "days": ["mon", "mon"]},
        ),
    ),
    Nasty(
        "composites",
        views.echo(fields.Composites),
        samples=bodies(
            {"tags": [], "matrix": [[1], []], "scores": {"a": None, "b c": 1}, "free": [1, {}]},
            {"pairs": {"k": None}, "anything": [1, "a"], "binary": '{"a": 1}'},
            *({"anything": value} for value in ("text", 0, True, None, {"deep": [{}]})),
        ),
    ),
    Nasty("odd", views.echo(fields.Odd), samples=bodies({}, {"colour": [1, 2, 3], "hostile": 1})),
    Nasty("odd_created", views.created(fields.Odd), samples=bodies({"loud": "a"})),
    Nasty(
        "order",
        views.echo(fields.Order),
        samples=bodies(
            {"reference": "r", "lines": [{"product": "p"}], "address": None},
            {"reference": "r", "lines": [{"product": "p", "options": []}]},
        ),
    ),
    Nasty(
        "node",
        views.echo(fields.Node),
        samples=bodies({"name": "a", "children": [{"name": "b", "children": [{"name": "c"}]}]}),
    ),
    Nasty(
        "renamed_fields",
        views.echo(fields.Renamed),
        samples=(
            Sample({"lid-colour": "red"}, arguments={"lid_colour": "red"}),
            Sample({"page[size]": "3", "1st": "x"}, arguments={"page_size": "3", "_1st": "x"}),
        ),
    ),
    Nasty(
        "reserved",
        views.echo(fields.Reserved),
        samples=(
            Sample(
                {"pk": "body", "query": "q", "body": "b", "self": "s"},
                {"pk": "path"},
                arguments={"pk": "body", "pk_path": "path", "query": "q", "body": "b", "self": "s"},
            ),
        ),
        path="reserved/<str:pk>/",
    ),
    Nasty("people", views.echo(fields.People), samples=bodies({}, {"owner": None, "groups": []})),
    Nasty("account", views.echo(fields.Account), samples=bodies({"user": "u", "password": "1234"})),
    Nasty("stripped", views.echo(fields.Stripped), samples=bodies({"name": "n"})),
    Nasty(
        "shapeless",
        views.echo(fields.Shapeless),
        samples=(
            Sample("word", arguments={"body": "word"}),
            Sample({"name": "n"}, arguments={"body": {"name": "n"}}),
        ),
    ),
    Nasty("dropping", views.echo(fields.Dropping), samples=bodies({"kept": 1, "dropped": "x"}, {})),
    Nasty("dropping_created", views.created(fields.Dropping), samples=bodies({"kept": None})),
    Nasty(
        "put_order",
        views.echo(fields.Order, http_method_names=["put"]),
        "PUT",
        bodies({"reference": "r", "lines": [{"product": "p"}]}),
    ),
    Nasty(
        "patch_line",
        views.echo(fields.Address, http_method_names=["patch"]),
        "PATCH",
        bodies({"street": "s"}),
    ),
]
BODIES = [
    Nasty("bulk_post", views.Bulk.as_view(), samples=bodies([{"product": "p"}], []), path="bulk/"),
    Nasty(
        "bulk_delete",
        views.Bulk.as_view(),
        "DELETE",
        (Sample([1, 2], arguments={"body": [1, 2]}),),
        path="bulk/",
    ),
    Nasty(
        "plain",
        views.Plain.as_view(),
        samples=tuple(
            Sample(value, arguments={"body": value}) for value in ({"a": 1}, [1], "a", 5)
        ),
    ),
    Nasty("named", views.Named.as_view(), samples=bodies({"product": "p"})),
    Nasty("function", views.function, samples=(Sample({"a": 1}, arguments={"body": {"a": 1}}),)),
    Nasty("scalar", views.scalar, "GET", (Sample(),)),
    Nasty("no_content", views.NoContent.as_view(), samples=(Sample(),)),
    Nasty("bytes", views.Bytes.as_view(), "GET", (Sample(),)),
    Nasty("django_answer", views.Django.as_view(), "GET", (Sample(),)),
    Nasty(
        "crashing",
        views.Crashing.as_view(),
        samples=(Sample({"a": 1}, arguments={"a": 1}),),
    ),
    Nasty("by_caller", views.ByCaller.as_view(), samples=bodies({"text": "t", "level": "low"})),
    Nasty("choosy", views.echo(views.Choosy), samples=bodies({}, {"text": "t"})),
    Nasty(
        "form_scalars",
        views.Forms.as_view(serializer_class=fields.Scalars),
        samples=(Sample({"number": "3", "word": "a"}, multipart=True),),
    ),
    Nasty(
        "form_order",
        views.Forms.as_view(serializer_class=fields.Order),
        samples=(
            Sample(
                {
                    "reference": "r",
                    "lines[0]product": "p",
                    "lines[0]options[0]": "o",
                    "address.street": "s",
                },
                multipart=True,
                arguments={
                    "reference": "r",
                    "lines": [{"product": "p", "options": ["o"]}],
                    "address": {"street": "s"},
                },
            ),
        ),
    ),
    Nasty(
        "form_composites",
        views.Forms.as_view(serializer_class=fields.Composites),
        samples=(
            Sample(
                {"tags": ["a", "b"], "scores.x": "1", "anything": "[1, 2]"},
                multipart=True,
                arguments={"tags": ["a", "b"], "scores": {"x": 1}, "anything": [1, 2]},
            ),
        ),
    ),
    Nasty(
        "json_alone",
        views.JSONAlone.as_view(serializer_class=fields.Line),
        samples=bodies({"product": "p"}),
    ),
    Nasty("refusing", views.Refusing.as_view()),
    Nasty("doomed", views.Doomed.as_view()),
]
QUERIES = [
    Nasty("reads", views.Reads.as_view(), "GET", (Sample(),)),
    Nasty(
        "reads_by_number_and_key",
        views.Reads.as_view(),
        "GET",
        (Sample(kwargs={"number": 7, "key": "12345678-1234-5678-1234-567812345678"}),),
        path="reads/<int:number>/by/<uuid:key>/",
    ),
    Nasty("no_queryset_list", views.NoQueryset.as_view(), "GET", (Sample(),), path="no-queryset/"),
    Nasty(
        "broken_hooks_list", views.BrokenHooks.as_view(), "GET", (Sample(),), path="broken-hooks/"
    ),
    Nasty(
        "groups_list",
        views.Groups.as_view(pagination_class=views.Numbered),
        "GET",
        (Sample(query={"page": 1}), Sample(query={"page[size]": 1}, arguments={"page_size": 1})),
        path="groups/",
    ),
    Nasty(
        "offset_list",
        views.Groups.as_view(pagination_class=views.Offset),
        "GET",
        (Sample(query={"limit": 1, "offset": 0}),),
        path="offset/",
    ),
    Nasty(
        "cursor_list",
        views.Groups.as_view(pagination_class=views.Cursor),
        "GET",
        (Sample(),),
        path="cursor/",
    ),
    Nasty(
        "version",
        views.Versions.as_view(),
        "GET",
        (Sample(kwargs={"version": "v1"}),),
        path="versions/<str:version>/",
    ),
    Nasty("by_query", views.ByQuery.as_view(), "GET", (Sample(query={"version": "2"}),)),
]
FILES = [
    Nasty(
        "document",
        views.echo(files.Document),
        samples=(
            Sample(
                {
                    "title": "t",
                    "file": file(b"hello"),
                    "tags": ["a", "b"],
                    "meta": '{"a": [1]}',
                    "count": "",
                },
                multipart=True,
                arguments={
                    "title": "t",
                    "file": files.encoded(b"hello"),
                    "tags": ["a", "b"],
                    "meta": {"a": [1]},
                    "count": None,
                },
            ),
            Sample(
                {"title": "t", "file": file(PDF, "a b.pdf"), "public": "false"},
                multipart=True,
                arguments={"title": "t", "file": URI, "public": False},
            ),
        ),
    ),
    Nasty(
        "picture",
        views.echo(files.Picture),
        samples=(
            Sample(
                {"image": file(PNG, "upload.png", "image/png")},
                multipart=True,
                arguments={"image": files.encoded(PNG)},
            ),
        ),
    ),
    Nasty(
        "papers",
        views.echo(files.Papers),
        samples=(
            Sample({"file": file(PDF, "a b.pdf")}, multipart=True, arguments={"file": URI}),
            Sample({"text": "no file"}),
        ),
    ),
    Nasty(
        "bundle",
        views.echo(files.Bundle),
        samples=(
            Sample(
                {
                    "pages": [file(b"1"), file(b"2")],
                    "parts[0]label": "x",
                    "parts[0]file": file(b"3"),
                    "parts[0]notes[0]": "n",
                    "main.label": "m",
                    "main.file": file(b"4"),
                },
                multipart=True,
                arguments={
                    "pages": [files.encoded(b"1"), files.encoded(b"2")],
                    "parts": [{"label": "x", "file": files.encoded(b"3"), "notes": ["n"]}],
                    "main": {"label": "m", "file": files.encoded(b"4")},
                },
            ),
            Sample({"cover": None, "main": {"label": "m"}}),
        ),
    ),
    Nasty("own_text", views.echo(files.OwnText), samples=bodies({"file": files.encoded(b"own")})),
    Nasty("raw", files.Raw.as_view()),
    Nasty(
        "by_key",
        files.ByKey.as_view(),
        samples=(
            Sample(
                {"scan": file(b"hello"), "title": "t"},
                multipart=True,
                arguments={"scan": files.encoded(b"hello"), "title": "t"},
            ),
            Sample({"title": "t"}),
        ),
    ),
    Nasty("whole_file", files.Whole.as_view(), "PUT", path="whole/<str:filename>/"),
    Nasty("no_multipart", files.NoMultiPart.as_view(), samples=bodies({"text": "t"})),
]
ANNOTATED = [
    Nasty(
        "painted",
        annotated.PaintedEcho.as_view(),
        samples=bodies(
            {"hue": "#ff0000", "price": {"amount": 1}, "tree": {"name": "t", "children": []}}
        ),
    ),
    Nasty("trimmed", annotated.TrimmedEcho.as_view(), samples=bodies({"name": "n"})),
    Nasty("lines", annotated.Lines.as_view(), samples=bodies([{"product": "p"}])),
    Nasty(
        "pets",
        annotated.Pets.as_view(),
        samples=PETS,
    ),
    Nasty(
        "kept",
        annotated.Kept.as_view(),
        samples=PETS,
    ),
    Nasty("loose", annotated.Loose.as_view(), samples=bodies({"n": None, "s": [1]})),
    Nasty("nothing", annotated.Nothing.as_view(), samples=(Sample(),)),
    Nasty(
        "any_object",
        annotated.AnyObject.as_view(),
        samples=(Sample({"a": 1}, arguments={"body": {"a": 1}}),),
    ),
    Nasty(
        "asked",
        annotated.Asked.as_view(),
        "GET",
        (
            Sample(query={"depth": 1, "since": "2026-01-01", "country": "DE"}),
            Sample(query={"ids": "1,2"}, arguments={"ids": [1, 2]}),
        ),
    ),
    Nasty(
        "broken_annotations",
        annotated.Broken.as_view(),
        samples=(Sample({"a": 1}, arguments={"body": {"a": 1}}),),
    ),
    Nasty(
        "annotated_function",
        annotated.annotated_function,
        samples=bodies({"kind": "cat", "lives": 9}),
    ),
]
RENAMED = [
    Nasty(
        "camel",
        renamed.Camel.as_view(),
        samples=bodies(
            {"recipeTitle": "t", "cookMinutes": 3, "allSteps": [{"stepName": "s", "isDone": True}]}
        ),
    ),
    Nasty(
        "half_camel",
        renamed.HalfCamel.as_view(),
        samples=bodies({"recipe_title": "t", "cook_minutes": 3}),
    ),
]
ENDPOINTS = [*ECHOES, *BODIES, *QUERIES, *FILES, *ANNOTATED, *RENAMED]

router = SimpleRouter()
router.register("sets", views.Sets, basename="set")

# Of several endpoints with one path only the first has a URL pattern.
NASTY_PATTERNS = list({str(nasty.pattern.pattern): nasty.pattern for nasty in ENDPOINTS}.values())
urlpatterns = [
    path("", include("drf_mcp.urls")),
    path("", include(router.urls)),
    path("hidden/", annotated.Hidden.as_view()),
    re_path(r"^regex/(?P<year>[0-9]{4})/(?P<word>\w+)/$", views.Reads.as_view()),
    re_path(r"^unnamed/([a-z]+)/(\d+)/$", views.Reads.as_view()),
    *NASTY_PATTERNS,
]
