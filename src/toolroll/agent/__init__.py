"""The managed loop: a model and tools, step by step, until there is an answer."""
