"""One PostgreSQL database for many machines: its connections, its tables, and which processes are alive."""
