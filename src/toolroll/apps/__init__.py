"""The applications: every surface (terminal, browser, MCP, jobs) starts its agents through this package."""
