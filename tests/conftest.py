"""What holds for every test: neither a model server of the machine nor its load is a test's business."""

import os

from hypothesis import settings

os.environ["HERMES_MODEL_LOCAL_SERVERS"] = "false"
settings.register_profile("hermes", deadline=None)
settings.load_profile("hermes")
