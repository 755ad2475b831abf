"""Every error: where it stands in the tree, its exit code, and what it carries."""

import inspect

from hermes import errors
from hermes.errors import HermesError
from manual.table import code, table

NAME = "errors.md"
_LEAD = """# All errors

This page is made from the code. The page [Errors](../reference/errors.md) says what each error means.
"""
_OF_EVERY = ("self", "message", "hint")


def text() -> str:
    tree = (errors.__doc__ or "").partition("\n\n")[2].strip()
    kinds = [
        kind for kind in vars(errors).values() if inspect.isclass(kind) and issubclass(kind, HermesError)
    ]
    rows = table(("error", "is a", "exit code", "again", "carries", "usual hint"), map(_row, kinds))
    return "\n".join((_LEAD, f"```text\n{tree}\n```\n", rows))


def _row(kind: type[HermesError]) -> tuple[str, ...]:
    parents = ", ".join(code(base.__name__) for base in kind.__bases__)
    given = [name for name in inspect.signature(kind.__init__).parameters if name not in _OF_EVERY]
    carried = ", ".join(map(code, given)) if "__init__" in vars(kind) else ""
    again = "may help" if kind.retryable else ""
    hint = getattr(kind, "hint", None)
    usual = hint if isinstance(hint, str) else ""
    return code(kind.__name__), parents, str(kind.exit_code), again, carried, usual
