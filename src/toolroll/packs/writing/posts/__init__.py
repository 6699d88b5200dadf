"""Posts: files, the store and its search index, checks of drafts, and statistics."""
