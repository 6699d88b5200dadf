"""Strict forms of tool schemas: what a provider's strict mode takes, and which tools of a request get it."""
