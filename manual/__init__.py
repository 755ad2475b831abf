"""What of the manual is made from the code, and the site that is made from the manual.

`python -m manual` writes `docs/generated` and the transcripts; a test says when it was forgotten. Each file
of `pages` makes one file there: it has a `NAME`, and a `text()` that gives the content.
"""
