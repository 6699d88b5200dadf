"""Small trees and parsed texts for the tests of imports."""

from collections.abc import Mapping
from typing import Any

from tree_sitter import Parser

from toolroll.workspace.symbols.extract import read_imports
from toolroll.workspace.symbols.imports.edges import Resolver, StoredEdges, resolve_imports
from toolroll.workspace.symbols.imports.importers import Importers, find_importers
from toolroll.workspace.symbols.imports.statement import ImportStatement
from toolroll.workspace.symbols.languages.registry import LANGUAGES, language_of
from toolroll.workspace.symbols.parser import load_grammar
from toolroll.workspace.symbols.store import PARSED, FileRow, Store
from toolroll.workspace.symbols.symbol import FileSymbols, to_rows


def statements(language: str, text: str | bytes) -> tuple[ImportStatement, ...]:
    data = text.encode() if isinstance(text, str) else text
    known = LANGUAGES[language]
    return read_imports(known, Parser(load_grammar(known)).parse(data), data)


def shown(language: str, text: str | bytes) -> list[str]:
    """Statements in one line each; what has its default is left out."""
    return [line(each) for each in statements(language, text)]


def line(each: ImportStatement) -> str:
    parts = ["." * each.level + each.module]
    parts += [f"takes {','.join(each.names)}"] if each.names else []
    parts += [f"as {','.join(each.binds)}"] if each.binds and each.binds != each.names else []
    parts += [each.kind] if each.kind != "static" else []
    parts += [each.form] if each.form != "module" else []
    parts += ["passes on"] if each.passes_on else []
    return " ".join(parts)


def statement(module: str, *names: str, **more: Any) -> ImportStatement:
    return ImportStatement(module=module, names=names, line=1, end_line=1, text=module, **more)


def resolver_of(files: Mapping[str, str]) -> Resolver:
    """A resolver for files with these texts."""
    return Resolver(files, lambda path: files[path].encode("utf-8", "surrogatepass"))


def targets(files: Mapping[str, str], importer: str, module: str, *names: str, **more: Any) -> list[str]:
    """The files a statement leads to; a question mark follows what is only guessed."""
    found = resolver_of(files).resolve(importer, statement(module, *names, **more))
    return [f"{each.path}{'' if each.certainty == 'resolved' else '?'}" for each in found]


def edges_of(files: Mapping[str, str], resolver: Resolver) -> StoredEdges:
    """The edges between files, read out of their texts."""
    store = Store(None)
    store.put([row(path, text) for path, text in files.items()])
    resolve_imports(store, resolver, store.statements())
    return StoredEdges(store)


def row(path: str, text: str) -> FileRow:
    """A file as the index keeps it, with its imports."""
    language = language_of(path)
    imports = () if language is None else statements(language.name, text)
    rows = to_rows(FileSymbols(imports=imports))
    return FileRow(path=path, language=None, size=0, mtime_ns=0, hash=None, state=PARSED, rows=rows)


def ask(files: Mapping[str, str], asked: str, **more: Any) -> Importers:
    resolver = resolver_of(files)
    return find_importers(asked, edges_of(files, resolver), resolver, **more)


def importers(files: Mapping[str, str], asked: str, **more: Any) -> list[str]:
    """Who imports it, in one line each: place, kind, certainty where it is a guess, and who passed it on."""
    rows = []
    for each in ask(files, asked, **more).found:
        guess = "" if each.certainty == "resolved" else "?"
        rows.append(f"{each.path}:{each.line} {each.kind}{guess}" + (f" via {each.via}" if each.via else ""))
    return rows
