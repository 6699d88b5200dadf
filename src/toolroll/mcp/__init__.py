"""The Model Context Protocol: tools for other programs' models (`server`), and other servers' tools for ours."""
