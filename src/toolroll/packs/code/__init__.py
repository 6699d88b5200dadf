"""Explore and change a project, with a person's approval."""
