"""The languages whose code can be read, one module each; `families` has what several of them share.

To add one, write a module with a tuple `LANGUAGES`, name it in `registry`, and add the wheel of its grammar to the
extra `languages`. A query for definitions is enough to begin with; imports can follow.
"""
