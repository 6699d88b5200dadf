"""A folder that tools may work in: the only way to its files, with search, edits, changes and symbols."""
