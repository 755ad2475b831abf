"""Documents made readable: bytes in, Markdown out. No network; bad content raises `DocumentError`."""
