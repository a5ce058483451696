"""Apps of their own: switched on in INSTALLED_APPS, and needed by nothing else."""
