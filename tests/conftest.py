"""What holds for every test: whatever model server the machine runs is none of a test's business."""

import os

os.environ["HERMES_MODEL_LOCAL_SERVERS"] = "false"
