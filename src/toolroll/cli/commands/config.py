"""`toolroll config`: see and change settings, and keep keys in the system's keyring (S41)."""

from typing import Final

import click

from toolroll.cli.lazy import body, lazily
from toolroll.cli.options import NumbersCommand, output_options, root_option

_complete_settings: Final = lazily("toolroll.cli.actions.config:complete_settings")
_complete_keys: Final = lazily("toolroll.cli.actions.config:complete_keys")


@click.group()
def config() -> None:
    """See and change the settings, and where each value is from.

    The first of these that sets a value wins: an option of the command, a variable (code.max_steps is
    TOOLROLL_CODE_MAX_STEPS), the project's .toolroll/settings.toml once you have trusted it, your own settings.toml,
    the default. Rules in code.deny add up.

    \b
    Examples:
      toolroll config list --show-origin
      toolroll config set model sonnet
    """


@config.command("list", short_help="List every setting: value, default, what it does.")
@root_option
@click.option("--show-origin", is_flag=True, help="Show where each value is from.")
@output_options
@click.pass_obj
@body("toolroll.cli.actions.config:list_settings")
def list_settings() -> None:
    """List every setting with its value, type and default, and what it does.

    \b
    Examples:
      toolroll config list
      toolroll config list --show-origin --json
    """


@config.command(short_help="Show the value of one setting.")
@click.argument("name", shell_complete=_complete_settings)
@root_option
@click.option("--show-origin", is_flag=True, help="Show where the value is from.")
@output_options
@click.pass_obj
@body("toolroll.cli.actions.config:show_setting")
def get() -> None:
    """Show the value that the setting NAME has here. The exit code is 1 where it has none.

    \b
    Examples:
      toolroll config get model
      toolroll config get code.deny --show-origin
    """


@config.command("set", cls=NumbersCommand, short_help="Set a setting in your own file.")
@click.argument("name", shell_complete=_complete_settings)
@click.argument("values", nargs=-1, required=True)
@output_options
@click.pass_obj
@body("toolroll.cli.actions.config:change_setting")
def set_value() -> None:
    """Set NAME to VALUES in your own settings.toml, and change nothing else there.

    A list takes several values; write -- before values that begin with a dash. Keys are not settings: see 'toolroll
    config key'.

    \b
    Examples:
      toolroll config set model sonnet
      toolroll config set code.deny 'secrets/**' '*.pem'
      toolroll config set code.check -- pytest -q
    """


@config.command(short_help="Remove a setting from your own file.")
@click.argument("name", shell_complete=_complete_settings)
@output_options
@click.pass_obj
@body("toolroll.cli.actions.config:remove_setting")
def unset() -> None:
    """Remove NAME from your own settings.toml. The exit code is 1 where it is not in there.

    \b
    Example:
      toolroll config unset model
    """


@config.command(short_help="Show where your settings are.")
@root_option
@output_options
@click.pass_obj
@body("toolroll.cli.actions.config:show_path")
def path() -> None:
    """Show the path of your own settings.toml, also where the file does not exist yet or cannot be used.

    \b
    Example:
      $EDITOR "$(toolroll config path)"
    """


@config.group(short_help="Keep keys in the system's keyring.")
def key() -> None:
    """Keep keys in the system's keyring (pip install 'toolroll[keyring]').

    A key in the environment wins. Keys are never taken from a project, and never written to a file unless you agree to
    that: without a keyring, the first 'toolroll code' at a terminal offers it.

    \b
    Examples:
      toolroll config key set ANTHROPIC_API_KEY
      toolroll config key list
    """


@key.command("set", short_help="Put a key into the keyring.")
@click.argument("name", shell_complete=_complete_keys)
@output_options
@click.pass_obj
@body("toolroll.cli.actions.config:store_key")
def set_key() -> None:
    """Put the key NAME (such as ANTHROPIC_API_KEY) into the keyring.

    You type it without it being shown, or it is read from stdin. It cannot be an argument: every user of the machine
    can see those.

    \b
    Examples:
      toolroll config key set ANTHROPIC_API_KEY
      pass show anthropic | toolroll config key set ANTHROPIC_API_KEY
    """


@key.command(short_help="Delete a key from the keyring.")
@click.argument("name", shell_complete=_complete_keys)
@output_options
@click.pass_obj
@body("toolroll.cli.actions.config:delete_key")
def delete() -> None:
    """Delete the key NAME from the keyring. The exit code is 1 where it is not in there.

    \b
    Example:
      toolroll config key delete ANTHROPIC_API_KEY
    """


@key.command("list", short_help="List the keys that are used, and where each is.")
@output_options
@click.pass_obj
@body("toolroll.cli.actions.config:list_keys")
def list_keys() -> None:
    """List the keys that toolroll uses, what each is for, and where it was found; never the keys themselves.

    \b
    Example:
      toolroll config key list --json
    """
