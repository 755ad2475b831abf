"""Search and reading: a thin kernel over an injected backend. One file in `backends/` is one backend."""
