"""The HTTP service: jobs over an API with tokens."""
