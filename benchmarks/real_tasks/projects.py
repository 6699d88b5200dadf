"""Two small projects that the coding tasks work on: a library of books in Python, a kitchen timer in JavaScript."""

SHELF = {
    "README.md": """\
# Shelf

Keeps track of the books of a small library. Members recieve a note when a book is late.

    python -m shelf.cli books.json
""",
    "settings.toml": """\
[library]
name = "Lime Street"
timeout = 45
colour = "green"
""",
    "shelf/__init__.py": '"""Books of a small library."""\n',
    "shelf/isbn.py": '''\
"""Numbers of books."""


def digits_of(text):
    """Return the digits of a number, without dashes and blanks."""
    return [int(char) for char in text if char.isdigit()]


def check_digit(digits):
    """Return the last digit that the first twelve ask for."""
    total = sum(digit * (3 if place % 2 else 1) for place, digit in enumerate(digits[:12]))
    return (10 - total % 10) % 10


def is_valid(text):
    """Return whether a number is right."""
    digits = digits_of(text)
    return digits[-1] == check_digit(digits)
''',
    "shelf/store.py": '''\
"""Where books are kept."""

import json

DAYS_KEPT = 21


def load_books(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def save_books(path, books):
    """Write all books to a file."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump(books, file)


def is_late(days):
    """Return whether a book was kept for too long."""
    return days > DAYS_KEPT
''',
    "shelf/report.py": '''\
"""Reports about books."""

PAGE_SIZE = 20


def average(values):
    """Return the average of some numbers."""
    return sum(values) / len(values)


def pages(books):
    """Return the books in pages."""
    return [books[start : start + PAGE_SIZE] for start in range(0, len(books), PAGE_SIZE)]
''',
    "shelf/cli.py": '''\
"""Show the books of a file."""

import sys

from shelf import report, store


def main():
    books = store.load_books(sys.argv[1])
    print("debug", len(books))
    for page in report.pages(books):
        print(page)


if __name__ == "__main__":
    main()
''',
    "tests/test_isbn.py": """\
from shelf.isbn import check_digit, is_valid


def test_check_digit():
    assert check_digit([9, 7, 8, 0, 3, 0, 6, 4, 0, 6, 1, 5]) == 7


def test_valid():
    assert is_valid("978-0-306-40615-7")
""",
}

KETTLE = {
    "README.md": "# Kettle\n\nA timer for the kitchen. Start it with `npm start`.\n",
    "package.json": """\
{
  "name": "kettle",
  "version": "0.3.1",
  "license": "Apache-2.0",
  "main": "src/index.js"
}
""",
    "src/format.js": """\
function pad(number) {
  return String(number).padStart(2, "0");
}

function formatTime(seconds) {
  const minutes = Math.floor(seconds / 60);
  return pad(minutes) + ":" + pad(seconds % 60);
}

module.exports = { formatTime };
""",
    "src/timer.js": """\
const MAX_MINUTES = 60;

class Timer {
  constructor(seconds) {
    this.left = Math.min(seconds, MAX_MINUTES * 60);
  }

  tick() {
    this.left = this.left - 1;
    return this.left;
  }
}

module.exports = { Timer, MAX_MINUTES };
""",
    "src/index.js": """\
const { formatTime } = require("./format");
const { Timer } = require("./timer");

const timer = new Timer(180);
console.log(formatTime(timer.left));
""",
}
