"""The fixtures of the conformance suite, with the task backend that the environment names."""

from __future__ import annotations

import os

from tests.programs.conformance.settings import *  # noqa: F403
from tests.programs.conformance.settings import INSTALLED_APPS

if os.environ["TASK_BACKEND"] == "RQ":
    INSTALLED_APPS = [*INSTALLED_APPS, "django_rq", "django_tasks_rq"]
    TASKS = {"default": {"BACKEND": "django_tasks_rq.RQBackend", "QUEUES": ["default"]}}
    RQ_QUEUES = {"default": {"URL": os.environ["TASK_REDIS"]}}
