SECRET_KEY = "of an example"
ROOT_URLCONF = "tests.projects.migrating.fastmcp_openapi.after.urls"
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "rest_framework",
    "rest_framework.authtoken",
    "tests",
    "drf_mcp",
]
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.TokenAuthentication"],
}
DRF_MCP = {"EXPOSE": "urlconf", "EXCLUDE": ["DELETE *"], "SERVER_NAME": "books"}
