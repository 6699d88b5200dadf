"""The conversation in which a post is written, from the request to the saved file."""
