"""The symbols of a workspace: what is defined where, who imports it, who refers to it."""
