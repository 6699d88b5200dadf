"""Plain data that every other part of the kernel uses: messages, labels, usage, stable JSON."""
