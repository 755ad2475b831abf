"""The loop that asks, acts and repeats. It knows no vendor, no socket and no file."""
