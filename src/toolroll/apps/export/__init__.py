"""A recorded run in a file that needs nothing else: lines of JSON for programs, one page for people."""
