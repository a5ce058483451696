SECRET_KEY = "of an example"
ROOT_URLCONF = "tests.projects.migrating.django_mcp_server.before.urls"
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "rest_framework",
    "rest_framework.authtoken",
    "tests",
    "tests.projects.migrating.django_mcp_server.before",
    "mcp_server",
]
DJANGO_MCP_AUTHENTICATION_CLASSES = ["rest_framework.authentication.TokenAuthentication"]
DJANGO_MCP_GLOBAL_SERVER_CONFIG = {
    "name": "birds",
    "instructions": "Count the birds.",
    "stateless": True,
}
