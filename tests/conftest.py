"""Settings for all tests."""

import os

from hypothesis import settings

# CI must give the same answer twice; at home new examples are drawn on every run.
settings.register_profile("repeatable", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("repeatable")
