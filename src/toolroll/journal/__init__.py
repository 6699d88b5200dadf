"""The run log: what happened, one record after the other. The one truth everything else is rebuilt from."""
