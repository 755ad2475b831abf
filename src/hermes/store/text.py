"""Text that SQLite and JSON can hold."""


def legible(text: str) -> str:
    r"""The text as valid Unicode: a stray byte of a file name or a terminal becomes `\udcff`."""
    return text.encode("utf-8", "backslashreplace").decode()
