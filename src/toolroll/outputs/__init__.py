"""The tool output cache: every output kept whole under a reference, and read back by page or by search."""
