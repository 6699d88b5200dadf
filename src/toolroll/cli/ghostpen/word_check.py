"""One word in the place of a request: whether it is meant, in the language of the locale, before options are read."""

import os
import sys

import click

from toolroll.packs.writing.session.intents import parse_yes_no
from toolroll.packs.writing.texts.messages import Key, choose_language, say


def say_in_locale(key: Key, **values: object) -> str:
    """Return a text in the language of the locale."""
    return say(key, choose_language(None, os.environ), **values)


def confirm_word(word: str) -> bool:
    """Ask a person at the terminal whether they want a post about one word; where nobody is there, they do not."""
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stderr is not None and sys.stderr.isatty()):
        return False
    question = say_in_locale("yes_no", question=say_in_locale("ask_word", word=word))
    while True:
        click.echo(f"{question} ", nl=False, err=True)
        answer = parse_yes_no(sys.stdin.readline() or None)
        if answer is not None:
            return answer
