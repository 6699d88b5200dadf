"""The board, read by Python."""
