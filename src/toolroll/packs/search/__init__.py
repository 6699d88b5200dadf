"""Searching the web: the provider's own search or one of ours, and a ledger of all that was found."""
