"""The `ghostpen` program: write posts and manage style profiles at the terminal."""
