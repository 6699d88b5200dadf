"""Load grammars and compile queries. Only processes that parse import this: tree-sitter is a compiled library."""

from functools import cache
from importlib import import_module

from tree_sitter import Language as Grammar
from tree_sitter import Parser, Query, Tree

from toolroll.workspace.symbols.languages.language import Language


def parse(language: Language, data: bytes) -> Tree:
    """Return the tree of these bytes, which are UTF-8."""
    return Parser(load_grammar(language)).parse(language.prepare(data) if language.prepare else data)


@cache
def load_grammar(language: Language) -> Grammar:
    """Load the grammar, once a process."""
    return Grammar(getattr(import_module(language.grammar), language.grammar_function)())


@cache
def compile_query(language: Language, text: str) -> Query:
    """Compile a query for a language, once a process."""
    return Query(load_grammar(language), text)


def fix_syntax(language: Language, data: bytes) -> bytes | None:
    """Return the bytes with what the grammar does not know replaced, of the same length; None where nothing is.

    One unknown word can cost all definitions of a file: everything after it becomes one error.
    """
    fixed = data
    for fix in language.fixes:
        fixed = fix.pattern.sub(fix.replace, fixed)
    return None if fixed == data else fixed
