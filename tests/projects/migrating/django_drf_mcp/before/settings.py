import os

SECRET_KEY = "of an example"
ROOT_URLCONF = "tests.projects.migrating.django_drf_mcp.before.urls"
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "rest_framework",
    "rest_framework.authtoken",
    "tests",
    "django_drf_mcp",
]
DJANGO_MCP = {
    "NAME": "tasks",
    "BASE_URL": "http://localhost:8000",
    "INCLUDE": ["*:/api/*"],
    "EXCLUDE": ["DELETE:*", "PUT:*"],
    "HEADERS": {"Authorization": f"Token {os.environ.get('API_TOKEN')}"},
}
