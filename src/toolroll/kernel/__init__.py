"""Tools and calls: how a tool is defined, how one call of it is checked, approved and run."""
