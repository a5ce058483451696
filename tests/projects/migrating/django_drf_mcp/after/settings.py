SECRET_KEY = "of an example"
ROOT_URLCONF = "tests.projects.migrating.django_drf_mcp.after.urls"
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "rest_framework",
    "rest_framework.authtoken",
    "tests",
    "drf_mcp",
]
DRF_MCP = {
    "SERVER_NAME": "tasks",
    "EXPOSE": "urlconf",
    "INCLUDE": ["/api/*"],
    "EXCLUDE": ["DELETE *"],
}
