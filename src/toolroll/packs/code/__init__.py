"""Explore and change a project, with a person's approval: the tools, and the agent that has them."""
