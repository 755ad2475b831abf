"""Real faults of the host: a user without rights, a disk without room."""

import os
import resource
from contextlib import contextmanager

import pytest

NOBODY = 65534


@pytest.fixture
def unprivileged():
    """A context in which file permissions hold, also when the tests run as root."""

    @contextmanager
    def drop():
        user = os.geteuid()
        if user == 0:
            os.seteuid(NOBODY)
        try:
            yield
        finally:
            os.seteuid(user)

    return drop


@pytest.fixture
def full_disk():
    """A context in which no file can grow beyond a few bytes."""

    @contextmanager
    def fill(room=8):
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    return fill
