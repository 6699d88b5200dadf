"""The first run (S17): who has no model or no key yet is asked for both, and goes on with what they wanted."""

import asyncio
import getpass
import os
from typing import Final

from toolroll.agent.agent import Agent
from toolroll.apps.models import connect_model
from toolroll.cli.session import Session
from toolroll.cli.terminal.terminal import Terminal, confirm, interruptible, open_terminal
from toolroll.errors import ToolrollError
from toolroll.home.keys import KeyBook, check_key, find_keyring, with_keys
from toolroll.home.settings_file import set_setting
from toolroll.models.catalog import CHAT_PROVIDERS, parse_model
from toolroll.safe.secrets.redact import remember_secret
from toolroll.safe.text import visible

CHOICES: Final = (
    ("Anthropic (Claude)", "sonnet"),
    ("OpenAI", "openai:gpt-5"),
    ("Google Gemini", "gemini:gemini-2.5-pro"),
    ("Ollama on this machine, without a key", "ollama:qwen3"),
)
"""Whose models, and the one that is proposed."""

_OWN_KEYS: Final = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}


def set_up_model(session: Session, model: str | None) -> str | None:
    """Ask for a model and its key where one is missing; return the model to go on with.

    None where nothing is missing, nobody can be asked, or the person wants none of it: then the usual error is told.
    """
    if session.json or session.prints or (model is not None and not _lacks_key(model)):
        return None
    terminal = open_terminal(os.environ)
    if terminal is None:
        return None
    try:
        with interruptible():
            return _ask(terminal, model)
    except (KeyboardInterrupt, EOFError):
        terminal.say("")
        return None


def key_variable(model: str) -> str:
    """Return the variable of the key that a model needs; empty where it needs none, or nobody knows."""
    try:
        provider = parse_model(model).provider
    except ToolrollError:
        return ""
    known = CHAT_PROVIDERS.get(provider)
    if known is not None:
        return known.key_variable or "" if known.needs_key else ""
    return _OWN_KEYS.get(provider, "")


def _lacks_key(model: str) -> bool:
    variable = key_variable(model)
    try:
        return bool(variable) and not with_keys(os.environ).get(variable, "").strip()
    except ToolrollError:  # a keyring that does not open: that is told when the model is asked
        return False


def _ask(terminal: Terminal, model: str | None) -> str | None:
    is_new = model is None
    chosen = model or _choose_model(terminal)
    if chosen is None:
        return None
    if _lacks_key(chosen) and not _take_key(terminal, chosen):
        return None
    if is_new:
        set_setting(os.environ, "model", (chosen,))
        terminal.say(f"{chosen} is your model from now on; 'toolroll config set model NAME' changes it.")
    return chosen


def _choose_model(terminal: Terminal) -> str | None:
    terminal.say("No model is set up yet. Whose models do you want to use?", "title")
    terminal.say("\n".join(f"{number}  {title}" for number, (title, _) in enumerate(CHOICES, 1)), "text")
    while True:
        answer = terminal.ask(f"Type 1 to {len(CHOICES)}, or only Enter to leave it. ", fresh=True)
        if not answer:
            return None
        if answer.isdecimal() and 1 <= int(answer) <= len(CHOICES):
            return _choose_name(terminal, CHOICES[int(answer) - 1][1])


def _choose_name(terminal: Terminal, proposed: str) -> str | None:
    while True:
        name = terminal.ask(f"Which model? [{proposed}] ")
        if name is None:
            return None
        try:
            parse_model(name or proposed)
        except ToolrollError as error:
            terminal.say(error.message, "warning")
        else:
            return name or proposed


def _take_key(terminal: Terminal, model: str) -> bool:
    """Take a key, check it if the person agrees, and keep it where they agree; return whether there is one now."""
    variable = key_variable(model)
    key = getpass.getpass(f"The key for {model} ({variable}; it is not shown, Enter for none): ").strip()
    if not key:
        return False
    try:
        check_key(variable, key)
    except ToolrollError as error:
        terminal.say(error.message, "warning")
        return False
    remember_secret(key)
    os.environ[variable] = key  # for this command, wherever it is kept
    if confirm(terminal, "Check it now, with one short question to the model?"):
        _check(terminal, model)
    _keep(terminal, variable, key)
    return True


def _check(terminal: Terminal, model: str) -> None:
    async def ask() -> None:
        async with Agent(model=connect_model(model, os.environ)) as agent:
            await agent.run("Answer with the word ok.")

    try:
        asyncio.run(ask())
    except ToolrollError as error:
        terminal.say(f"It did not work: {error.message}", "warning")
    else:
        terminal.say("It works.")


def _keep(terminal: Terminal, variable: str, key: str) -> None:
    book = KeyBook.from_environment(os.environ)
    keyring = find_keyring()
    where = f"the keyring of this system ({keyring.name})" if keyring.name else f"the file {book.file.path}"
    terminal.say(f"The key can be kept in {visible(where, keep=())}.")
    if not keyring.name:
        terminal.say("It is readable for you alone (0600), and not encrypted.")
    if not confirm(terminal, "Keep it there?"):
        terminal.say(f"It is used now and not kept. To keep it yourself: export {variable}=...")
        return
    try:
        if keyring.name:
            book.put(variable, key)
        else:
            book.file.put(variable, key)
    except ToolrollError as error:
        terminal.say(error.message, "warning")
        return
    terminal.say(f"Kept. 'toolroll config key delete {variable}' removes it.")
