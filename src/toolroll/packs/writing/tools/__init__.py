"""The nine tools that the writing agent has."""
