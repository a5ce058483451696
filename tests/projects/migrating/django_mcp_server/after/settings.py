SECRET_KEY = "of an example"
ROOT_URLCONF = "tests.projects.migrating.django_mcp_server.after.urls"
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "rest_framework",
    "rest_framework.authtoken",
    "tests",
    "tests.projects.migrating.django_mcp_server.after",
    "drf_mcp",
]
DRF_MCP = {
    "AUTHENTICATION_CLASSES": ["rest_framework.authentication.TokenAuthentication"],
    "SERVER_NAME": "birds",
    "INSTRUCTIONS": "Count the birds.",
}
