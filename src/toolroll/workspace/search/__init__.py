"""List, find and search the files of a workspace."""
