"""Repeatable measurements: ratios to floors taken in the same run, never absolute times."""
