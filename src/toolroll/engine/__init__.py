"""Jobs: which recorded run is driven when, and by which worker."""
