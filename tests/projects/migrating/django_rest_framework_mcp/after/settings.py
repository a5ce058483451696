SECRET_KEY = "of an example"
ROOT_URLCONF = "tests.projects.migrating.django_rest_framework_mcp.after.urls"
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "rest_framework",
    "tests",
    "drf_mcp",
]
DRF_MCP = {
    "INCLUDE": ["*", "PUT *"],
    "ARGUMENTS": "grouped",
    "ENVELOPE_CLASS": "drf_mcp.envelopes.PlainEnvelope",
}
