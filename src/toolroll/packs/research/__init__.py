"""Explore an idea with web search and earlier research: where research is kept, and the tool that reads it."""
