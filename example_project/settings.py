"""Settings of the example shop and its library.

Environment variables change them: ``SHOP_DB`` (path of the SQLite file), ``SHOP_DEBUG``
(1 or 0), ``SHOP_SECRET_KEY``, ``SHOP_HOSTS`` (separated by commas), ``SHOP_HTTPS`` (1 behind a
proxy that ends TLS and sets X-Forwarded-Proto itself), ``SHOP_OAUTH`` (1: people sign in for their
agents), ``SHOP_TASKS`` (1: `orders_export` is a task, which ``manage.py db_worker`` runs),
``SHOP_METRICS`` (1: administrators read ``/metrics``), ``SHOP_CARRIER_URL``, and
``LIBRARY_ANSWER_MODEL_URL``, ``_NAME`` and ``_KEY``.
"""

from __future__ import annotations

import os
from pathlib import Path

import django
from django.core.exceptions import ImproperlyConfigured

from drf_mcp.contrib.oauth.defaults import AGENTS

BASE_DIR = Path(__file__).resolve().parent.parent

DATABASE_PATH = Path(os.environ.get("SHOP_DB", BASE_DIR / ".demo" / "shop.sqlite3"))
# SQLite makes the file but no folder, and Django's checks open it before any command runs.
try:
    DATABASE_PATH.parent.mkdir(parents=True, exist_ok=True)
except OSError as exc:
    raise ImproperlyConfigured(
        f"No database can be made at {DATABASE_PATH}: {exc}. Name another file in SHOP_DB."
    ) from exc
DEBUG = os.environ.get("SHOP_DEBUG", "1") == "1"
SECRET_KEY = os.environ.get("SHOP_SECRET_KEY", "for-the-demo-on-this-machine-only")
ALLOWED_HOSTS = os.environ.get("SHOP_HOSTS", "localhost,127.0.0.1,[::1],testserver").split(",")
if os.environ.get("SHOP_HTTPS") == "1":
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
    SECURE_HSTS_SECONDS = 365 * 24 * 60 * 60
    SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = True

INSTALLED_APPS = [
    "example_project.apps.ShopAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "django_filters",
    "rest_framework",
    "rest_framework.authtoken",
    "drf_mcp",
    "drf_mcp.contrib.aggregates",
    "drf_mcp.contrib.asking",
    "drf_mcp.contrib.audit",
    "drf_mcp.contrib.compose",
    "drf_mcp.contrib.operators",
    "drf_mcp.contrib.pages",
    "drf_mcp.contrib.prompts",
    "drf_mcp.contrib.resources",
    "drf_mcp.contrib.rules",
    "drf_mcp.contrib.skills",
    "drf_mcp.contrib.search",
    "drf_mcp.contrib.subscriptions",
    "drf_mcp.contrib.tasks",
    "drf_mcp.contrib.tokens",
    "drf_mcp.contrib.uploads",
    "drf_mcp.contrib.writes",
    "example_project.shop",
    "example_project.library",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    # The page, mails and errors in the language of their reader.
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

ROOT_URLCONF = "example_project.urls"
WSGI_APPLICATION = "example_project.wsgi.application"
ASGI_APPLICATION = "example_project.asgi.application"

DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": DATABASE_PATH,
        # Several workers may write at once: wait for the lock instead of failing.
        "OPTIONS": {"timeout": 20, "transaction_mode": "IMMEDIATE"},
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Mails of a demo are files beside its database.
if DEBUG:
    MAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
    MAIL_FOLDER = DATABASE_PATH.parent / "mails"
    if django.VERSION >= (6, 1):
        MAILERS = {"default": {"BACKEND": MAIL_BACKEND, "OPTIONS": {"file_path": MAIL_FOLDER}}}
    else:
        EMAIL_BACKEND, EMAIL_FILE_PATH = MAIL_BACKEND, MAIL_FOLDER

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
STATIC_URL = "static/"

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "rest_framework.authentication.TokenAuthentication",
        "drf_mcp.contrib.tokens.authentication.AgentTokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}

DRF_MCP = {
    "SERVER_NAME": "shop",
    "SERVER_TITLE": "The example shop",
    # Deletions, refunds and cancellations are shown first, and made once they are confirmed.
    "CONFIRM": True,
    # The tools of people who answer customers, at /mcp/x/support.
    "TOOLSETS": {
        "support": ["*tickets_*", "customers_list", "customers_retrieve", "GET */orders/*"]
    },
    "INSTRUCTIONS": (
        "A shop's back office: customers, their orders and tickets, and the product "
        "catalogue. You see the rows of the person whose token you use. Lists are paged; "
        "narrow them with the filters before fetching further pages. Ask before refunding, "
        "cancelling or deleting. The project also has a library: ask its retrievers about "
        "Python, or read its documents."
    ),
}

# On the internet the shop has limits; a demo on one machine needs none.
if not DEBUG:
    REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"] = {"user": "600/min", "anon": "60/min"}
    DRF_MCP |= {
        "TIME_LIMIT": 30,
        "THROTTLE_CLASSES": [
            "rest_framework.throttling.UserRateThrottle",
            "rest_framework.throttling.AnonRateThrottle",
        ],
    }
    # All permissions of the shop are Django's, which the fingerprint of rights contains. Agents may
    # correct customers, products and tickets by themselves.
    SILENCED_SYSTEM_CHECKS = ["drf_mcp.I002", "drf_mcp.W041"]

# The shop as an authorization server: people connect agents by signing in, without a token.
SHOP_OAUTH = os.environ.get("SHOP_OAUTH") == "1"
if SHOP_OAUTH:
    INSTALLED_APPS += ["oauth2_provider", "drf_mcp.contrib.oauth"]
    REST_FRAMEWORK["DEFAULT_AUTHENTICATION_CLASSES"] = [
        "oauth2_provider.contrib.rest_framework.OAuth2Authentication",
        *REST_FRAMEWORK["DEFAULT_AUTHENTICATION_CLASSES"],
    ]
    OAUTH2_PROVIDER = {
        **AGENTS,
        "SCOPES": {"shop": "Work with the shop's customers, orders, tickets and products"},
        # The demo may not reach the documents that clients publish on the internet, so any
        # program may register here.
        "DCR_ENABLED": True,
        "DCR_REGISTRATION_PERMISSION_CLASSES": ["oauth2_provider.dcr.AllowAllDCRPermission"],
    }
    DRF_MCP |= {"AUTHORIZATION_SERVERS": ["/o"], "SCOPES": ["shop"]}
    LOGIN_URL = "rest_framework:login"

# Workers run the long calls of clients that support tasks.
if os.environ.get("SHOP_TASKS") == "1":
    INSTALLED_APPS += ["django_tasks_db"]
    TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}

# Prometheus reads numbers of the calls.
SHOP_METRICS = os.environ.get("SHOP_METRICS") == "1"
if SHOP_METRICS:
    INSTALLED_APPS += ["drf_mcp.contrib.metrics"]

# The URL of a carrier's prices; without it, quotes use the flat rates of the shop.
SHOP_CARRIER_URL = os.environ.get("SHOP_CARRIER_URL", "")

# A language model that writes the library's answers, at an OpenAI-compatible chat endpoint
# such as http://localhost:11434/v1/chat/completions. Without a URL the answers are extracts.
LIBRARY_ANSWER_MODEL = {
    "URL": os.environ.get("LIBRARY_ANSWER_MODEL_URL", ""),
    "NAME": os.environ.get("LIBRARY_ANSWER_MODEL_NAME", ""),
    "KEY": os.environ.get("LIBRARY_ANSWER_MODEL_KEY", ""),
    "TIMEOUT": 30,
}
