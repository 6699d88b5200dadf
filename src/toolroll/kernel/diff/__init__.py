"""Unified diffs: write them, read them, take some of their hunks."""
