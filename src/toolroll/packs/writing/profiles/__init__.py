"""Style profiles: their fields, the store, changes, mixes, feedback, and how a model makes one from posts."""
