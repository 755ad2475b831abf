"""One file is one page of the reference."""
