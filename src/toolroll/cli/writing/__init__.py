"""Writing a post at the command line: the person, what they are told, and the demo."""
