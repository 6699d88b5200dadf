"""Secrets in text: how they are recognized and replaced."""
