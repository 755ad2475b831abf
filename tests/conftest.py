"""What holds for every test: the model servers and the cloud of the machine are none of a test's business."""

import os

os.environ["HERMES_MODEL_LOCAL_SERVERS"] = "false"
os.environ["AWS_EC2_METADATA_DISABLED"] = "true"
