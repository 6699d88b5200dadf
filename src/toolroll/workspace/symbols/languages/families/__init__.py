"""What several languages share: how they import, and how they find files."""
