"""A folder that tools may work in: the only way to its files, and what is found in them."""
