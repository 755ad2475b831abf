"""The names by which this machine calls itself."""

LOOPBACK = ("127.0.0.1", "localhost", "::1")
