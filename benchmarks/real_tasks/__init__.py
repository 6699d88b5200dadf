"""The tasks of `benchmarks/real.py`: code, explorations and posts, each judged by a program."""
