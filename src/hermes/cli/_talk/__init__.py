"""A conversation at a terminal.

talk        the conversation itself: what is asked, and what the words with a slash act on
begin       who holds it is said, and the prompt is there
hold        questions until somebody leaves
commands/   ONE FILE = ONE WORD WITH A SLASH, found by name
prompt      the line where questions are typed, with history and completion
plain       the same on a terminal that can do nothing
past        what was typed before, in a file
completion  what a half-typed word may become
attach      the files and pictures that a question names
"""
