"""Everything that a writer reads, in each language."""
