"""What holds for every test: a busy machine, or a model server on it, is none of a test's business."""

import os

from hypothesis import settings

os.environ["HERMES_MODEL_LOCAL_SERVERS"] = "false"
settings.register_profile("hermes", deadline=None)
settings.load_profile("hermes")
