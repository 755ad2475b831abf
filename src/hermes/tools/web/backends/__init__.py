"""One file is one web backend: its `BACKEND` says what it can do and how to reach it."""
