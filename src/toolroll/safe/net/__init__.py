"""Network addresses: which URLs and hosts may be reached, and a transport that enforces it."""
