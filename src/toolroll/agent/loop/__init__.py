"""The loop and its parts: each turn of the model, its calls, limits and state, and how a run ends."""
