"""What the file tools share.

access          where a path leads, and who must agree to it
text            bytes as text and back, nothing lost
writing         a file replaced whole or not at all
walk            the files of a folder that a person would look at
patterns        file names by pattern
search_worker   the process that searches
"""
