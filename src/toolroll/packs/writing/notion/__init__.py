"""Notion: its ids, its blocks as Markdown and back, and requests to its API."""
