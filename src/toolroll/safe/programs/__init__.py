"""Programs that are run with limits, ripgrep among them."""
