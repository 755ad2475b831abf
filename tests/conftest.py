"""What holds for every test: how busy the machine is and what else runs on it is none of its business."""

import os

from hypothesis import settings

os.environ["HERMES_MODEL_LOCAL_SERVERS"] = "false"
os.environ["AWS_EC2_METADATA_DISABLED"] = "true"
settings.register_profile("hermes", deadline=None)
settings.load_profile("hermes")
