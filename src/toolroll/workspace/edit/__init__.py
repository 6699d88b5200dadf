"""Turn an edit that a model asks for into the exact new bytes of a file."""
