"""What `hermes doctor` looks at. One file is one group of checks: it holds a value named `GROUP`."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal

import msgspec

from hermes.app import Runtime
from hermes.errors import ConfigError

Status = Literal["ok", "warning", "failed"]


class Finding(msgspec.Struct, frozen=True):
    """What a check found: how it is, and how to mend it where something is wrong."""

    status: Status
    detail: str
    fix: str | None = None
    check: str = ""
    """What was looked at, where that is not the check itself."""


class Scene(msgspec.Struct, frozen=True):
    """What a check looks at: the runtime of these settings, and why they could not all be read."""

    runtime: Runtime
    problem: ConfigError | None = None
    online: bool = False


Found = Finding | Sequence[Finding]
Check = Callable[[Scene], Awaitable[Found]]


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Checks by name under one title; `place` says where the group stands.

    Those in `online` contact servers, and are left out where that is not wanted.
    """

    title: str
    place: int
    checks: Mapping[str, Check]
    online: Mapping[str, Check] = {}


def ok(detail: str, fix: str | None = None) -> Finding:
    return Finding("ok", detail, fix)


def warning(detail: str, fix: str | None = None) -> Finding:
    return Finding("warning", detail, fix)


def failed(detail: str, fix: str | None = None) -> Finding:
    return Finding("failed", detail, fix)
