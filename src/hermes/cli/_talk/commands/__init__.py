"""The words with a slash. Each file is one: its first docstring line is what `/help` says of it.

A file has `run(talk, words)`, and `offers(talk)` where what follows can be completed.
"""
