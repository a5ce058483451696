SECRET_KEY = "of an example"
ROOT_URLCONF = "tests.projects.migrating.django_rest_framework_mcp.before.urls"
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "rest_framework",
    "tests",
    "djangorestframework_mcp",
]
DJANGORESTFRAMEWORK_MCP = {"RETURN_200_FOR_ERRORS": True}
