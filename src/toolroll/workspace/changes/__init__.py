"""Propose, apply, record, undo and recover changes of a workspace's files."""
