"""Every message that the stores, the parser and Notion can raise is there in Ukrainian too (W34).

The messages are gathered from the sources that make them, so that a new one without Ukrainian words fails here.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernel.arguments.test_parse import MUST_FAIL

import toolroll
from toolroll import errors
from toolroll.cli.chat.input import PASTED
from toolroll.cli.chat.parse import TOO_LONG
from toolroll.cli.chat.prompt import LEAVE_HINT
from toolroll.errors import JsonRefused
from toolroll.kernel.arguments.parse import parse_json
from toolroll.packs.writing.texts import phrase_texts
from toolroll.packs.writing.texts.error_texts import translate_message
from toolroll.packs.writing.texts.messages import placeholders
from toolroll.packs.writing.texts.phrases import MAX_CHARACTERS, in_ukrainian

SOURCE = Path(toolroll.__file__).parent
COMMAND_LINE = ("main.py", "write.py")
"""Mistakes in a command line are told by click, in English."""
MAKERS = (
    *sorted(str(one.relative_to(SOURCE)) for one in SOURCE.glob("packs/writing/**/*.py")),
    *sorted(str(one.relative_to(SOURCE)) for one in SOURCE.glob("cli/ghostpen/*.py") if one.name not in COMMAND_LINE),
    *("apps/models.py", "apps/spec.py", "models/connect.py", "models/catalog.py"),
    "models/scripted_file.py",
)
OWN_WORDS = {
    *("ProfileMissing", "ProfileInvalid", "ProfileFixed", "ProfileNewer", "ChangeRefused"),  # told by their fields
    *("RequestRefused", "ToolFailure"),  # told by their cause, and by their content
}
"""Errors that are told from what they carry; `test_error_texts` goes through those."""
NOT_FOR_WRITERS = {
    "The arguments must be a JSON object such as {{}}, not {}.",  # of a call: a model writes them
    "This run was not started by 'toolroll run'. Name the --model (and --from) to go on with.",
    "This run was started in another folder. Go there first: cd '{}'.",
}
VALUE = "X7"
LATIN = re.compile(r"[A-Za-z]{3,}")
KEPT = re.compile(
    r"`[^`]*`|'[A-Za-z:. -]*'|«[a-z-]*»|--\w+|\([^()]*\)|[A-Z]{3,}(_[A-Z]+)*|UTF-8|\.json|X7"
    r"|https://[a-z0-9./]*|openai-compatible:\S*|Notion|Ollama|LinkedIn|default|ghostpen|toolroll [a-z ]*"
)
"""What stays Latin in a Ukrainian text: commands, options, names, and what the system calls it."""


def error_names() -> set[str]:
    kinds = (one for one in vars(errors).values() if isinstance(one, type))
    return {kind.__name__ for kind in kinds if issubclass(kind, errors.ToolrollError)} - OWN_WORDS


class Gatherer(ast.NodeVisitor):
    """The templates of all messages in one module, each value a `{}`."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self.texts: dict[str, ast.expr] = {}

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        before, self.texts = self.texts, dict(self.texts)
        self.generic_visit(node)
        self.texts = before

    def visit_Assign(self, node: ast.Assign) -> None:
        if isinstance(node.targets[0], ast.Name):
            self.texts[node.targets[0].id] = node.value
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if isinstance(node.target, ast.Name) and node.value is not None:
            self.texts[node.target.id] = node.value

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if node.args and name in error_names():
            self.found += [one for one in (self.template(node.args[0]),) if one is not None]
        self.generic_visit(node)

    def template(self, node: ast.expr) -> str | None:
        match node:
            case ast.Constant(value=str(text)):
                return text.replace("{", "{{").replace("}", "}}")
            case ast.JoinedStr(values=parts):
                return "".join(self.template(part) or "{}" for part in parts)
            case ast.FormattedValue(value=ast.Name(id=name)) if name in self.texts:
                return self.template(self.texts[name])
            case ast.BinOp(left=left, right=right):
                return f"{self.template(left) or '{}'}{self.template(right) or '{}'}"
            case ast.Name(id=name) if name in self.texts:
                return self.template(self.texts[name])
            case _:  # words that are there in both languages already, or a value
                return None


def gathered() -> Iterator[str]:
    for module in MAKERS:
        gatherer = Gatherer()
        gatherer.visit(ast.parse((SOURCE / module).read_text(encoding="utf-8")))
        yield from gatherer.found


MESSAGES = sorted({one for one in gathered() if LATIN.search(one)} - NOT_FOR_WRITERS)


def check_ukrainian(text: str) -> None:
    told = translate_message(text, "uk")
    assert told != text, "there is no phrase for it"
    assert not LATIN.search(KEPT.sub("", told)), (text, told)


def test_W34_the_messages_are_found() -> None:
    assert len(MESSAGES) > 10
    assert "A draft needs at least one style profile to be written by." in MESSAGES


@pytest.mark.parametrize("template", MESSAGES)
def test_W34_every_message_of_a_store_or_service_has_ukrainian_words(template: str) -> None:
    whole = template.removesuffix(".{}") + "." if template.endswith(".{}") else template  # more lines, or none
    check_ukrainian(whole.replace("{}", VALUE).replace("{{", "{").replace("}}", "}"))


@pytest.mark.parametrize("group", MUST_FAIL)
def test_W34_XJ5_whatever_is_wrong_with_json_is_told_in_ukrainian(group: str) -> None:
    for text in MUST_FAIL[group]:
        with pytest.raises(JsonRefused) as refused:
            parse_json(text)
        check_ukrainian(refused.value.message)


def test_W34_phrases_have_the_same_values_in_both_languages() -> None:
    for phrase in phrase_texts.PHRASES:
        assert placeholders(phrase.uk) <= placeholders(phrase.en), phrase


def test_W34_values_are_taken_over_and_translated_where_they_are_ours() -> None:
    assert in_ukrainian("'{0} a' has more than 5 bytes.") == "«{0} a» завеликий: понад 5 байтів."
    assert in_ukrainian("'{0}\na' has more than 5 bytes.") is None
    assert in_ukrainian("The page has more than 5 blocks") == "На сторінці понад 5 блоків"


@given(st.text(max_size=50))
def test_W34_what_is_no_phrase_stays_unknown(text: str) -> None:
    assert in_ukrainian(f"Nobody says {text}") is None
    assert in_ukrainian("x" * (MAX_CHARACTERS + 1)) is None


@pytest.mark.parametrize("note", [LEAVE_HINT, TOO_LONG.format(count=20_001), PASTED.format(count=3)])
def test_W34_notes_beside_what_is_typed_have_ukrainian_words(note: str) -> None:
    told = translate_message(f"Note: {note}", "uk")
    assert told.startswith("Примітка: ")
    assert not LATIN.search(told.replace("Ctrl", "").replace("Enter", ""))
    assert all(number in told for number in re.findall(r"[\d,]*\d", note))
