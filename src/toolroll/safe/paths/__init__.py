"""Files below a folder: path rules, access without races, atomic writes."""
