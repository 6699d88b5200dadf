"""Primitives against hostile input. They need little more than the standard library."""
