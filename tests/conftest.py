"""What holds for every test: the model servers and the cloud of the machine are none of a test's business."""

import os

from hypothesis import settings

os.environ["HERMES_MODEL_LOCAL_SERVERS"] = "false"
os.environ["AWS_EC2_METADATA_DISABLED"] = "true"

# A test is not wrong because its machine is busy.
settings.register_profile("hermes", deadline=None)
settings.load_profile("hermes")
