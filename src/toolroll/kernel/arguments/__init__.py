"""Arguments as a model writes them: parsed, checked, and explained where they are wrong."""
