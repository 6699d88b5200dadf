"""Who imports a module, a file, a package or a name."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.workspace.symbols.imports.samples import ask, edges_of, importers, resolver_of, statement

from toolroll.workspace.symbols.imports.edges import Resolver
from toolroll.workspace.symbols.imports.importers import MAX_PATHS, find_importers, interpret_module
from toolroll.workspace.symbols.imports.statement import is_within

WEB = {
    "src/services/User.ts": "export class User {}",
    "src/services/index.ts": "export {User} from './User';\nexport * from './Other';",
    "src/services/Other.ts": "",
    "src/pages/home.ts": "import {User} from '../services/User';",
    "src/pages/list.tsx": "import {User} from '../services';\nimport type {Other} from '../services';",
    "src/pages/lazy.ts": "const u = await import('../services/User.js');",
    "src/pages/types.ts": "import type {User} from '../services/User';",
    "src/pages/all.ts": "import * as s from '../services';\nimport React from 'react';\nimport x from 'react/jsx';",
    "old/services/User.js": "",
    "old/main.js": "const User = require('./services/User');\nimport fp from 'react-dom';",
}
DIRECT = [
    "src/pages/home.ts:1 static",
    "src/pages/lazy.ts:1 dynamic",
    "src/pages/list.tsx:1 static via src/services/index.ts",
    "src/pages/types.ts:1 type",
    "src/services/index.ts:1 reexport",
]


@pytest.mark.parametrize(
    "asked",
    [
        "src/services/User.ts",
        "src/services/User",
        "/src/services/User.ts",
        " 'src/services/User.js' ",
        "src/services/User.ts?raw",
    ],
)
def test_C15_importers_of_a_file(asked: str) -> None:
    assert importers(WEB, asked) == DIRECT


def test_C15_importers_of_a_relative_path() -> None:
    assert importers(WEB, "../services/User", base="src/pages/home.ts") == DIRECT
    assert importers(WEB, "../services/User") == ["old/main.js:1 static", *DIRECT]
    assert importers(WEB, "../services/User", base="old/deep/gone/x.js") == ["old/main.js:1 static", *DIRECT]
    assert importers(WEB, "services/User") == ["old/main.js:1 static", *DIRECT]
    assert importers(WEB, "../gone") == []


def test_C15_importers_of_a_package() -> None:
    assert importers(WEB, "react") == ["src/pages/all.ts:2 static?", "src/pages/all.ts:3 static?"]
    assert importers(WEB, "react/jsx") == ["src/pages/all.ts:3 static?"]


def test_C15_importers_of_a_folder() -> None:
    rows = importers(WEB, "src/services")
    assert [row for row in rows if "via" not in row] == [
        "src/pages/all.ts:1 static",
        "src/pages/list.tsx:1 static",
        "src/pages/list.tsx:2 type",
    ]
    assert importers(WEB, "src/services/") == rows


def test_C15_importers_of_a_name() -> None:
    assert importers(WEB, "User") == [
        "src/pages/home.ts:1 static",
        "src/pages/list.tsx:1 static",
        "src/pages/types.ts:1 type",
        "src/services/index.ts:1 reexport",
    ]
    assert importers(WEB, "src/services/User.ts:User") == [row for row in DIRECT if "lazy" not in row]
    assert importers(WEB, "src/services/User#Gone") == []


def test_C15_everything_passed_on_is_followed_for_its_names_only() -> None:
    def exports(path: str) -> list[str]:
        return {"src/services/Other.ts": ["Other"]}.get(path, [])

    every = importers(WEB, "src/services/Other.ts")
    assert [row for row in every if "via" in row] == [
        "src/pages/list.tsx:1 static via src/services/index.ts",
        "src/pages/list.tsx:2 type via src/services/index.ts",
    ]
    known = importers(WEB, "src/services/Other.ts", exports=exports)
    assert [row for row in known if "via" in row] == ["src/pages/list.tsx:2 type via src/services/index.ts"]


def test_C15_a_file_is_no_importer_of_itself() -> None:
    files = {"a.ts": "import {b} from './all';", "b.ts": "", "all.ts": "export {b, a} from './a';"}
    assert importers(files, "a.ts") == ["all.ts:1 reexport"]


PYTHON = {
    "pyproject.toml": "",
    "src/pkg/__init__.py": "from .mod import Thing\nfrom os import path\nimport json",
    "src/pkg/mod.py": "from . import other\nclass Thing: ...",
    "src/pkg/other.py": "",
    "tests/test_a.py": "from pkg import Thing\nimport pkg.mod\nimport json\nfrom pkg.mod import *",
    "tests/test_b.py": "import pkg\nfrom pkg.mod import Thing as T",
}


def test_C15_importers_of_a_dotted_module() -> None:
    rows = [
        "src/pkg/__init__.py:1 reexport",
        "tests/test_a.py:1 static via src/pkg/__init__.py",
        "tests/test_a.py:2 static",
        "tests/test_a.py:4 static",
        "tests/test_b.py:2 static",
    ]
    assert importers(PYTHON, "pkg.mod") == rows
    assert importers(PYTHON, "src/pkg/mod.py") == rows
    assert importers(PYTHON, "pkg.mod.Thing") == [row for row in rows if ":2 static" not in row or "test_b" in row]
    assert importers(PYTHON, "json") == ["src/pkg/__init__.py:3 static?", "tests/test_a.py:3 static?"]
    assert importers(PYTHON, "pkg.gone") == []


def test_C15_importers_of_a_python_package_include_its_modules() -> None:
    assert {row.split(" ")[0] for row in importers(PYTHON, "pkg")} >= {"tests/test_a.py:1", "tests/test_a.py:2"}
    assert importers(PYTHON, "src/pkg/__init__.py")[-1] == "tests/test_b.py:1 static"


def test_C15_the_same_text_elsewhere_is_another_module() -> None:
    files = {"a/lib.py": "", "a/x.py": "import lib", "b/lib.py": "", "b/x.py": "import lib", "lib.py": ""}
    assert importers(files, "lib") == []
    assert importers(files, "b/lib.py") == ["b/x.py:1 static"]


OTHERS = {
    "go.mod": "module example.org/app",
    "db/store.go": "package db",
    "main.go": 'package main\nimport "example.org/app/db"\n',
    "core/Cargo.toml": '[package]\nname = "core-x"',
    "core/src/lib.rs": "pub mod a;",
    "core/src/a.rs": "",
    "core/tests/t.rs": "use core_x::a::X;",
    "j/org/x/Store.java": "package org.x;",
    "j/org/y/Main.java": "import org.x.Store;\nimport org.x.*;",
    "c/inc.h": "",
    "c/main.c": '#include "inc.h"',
}


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("example.org/app/db", ["main.go:2 static"]),
        ("db/store.go", ["main.go:2 static"]),
        ("db", ["main.go:2 static"]),
        ("core_x::a", ["core/src/lib.rs:1 static", "core/tests/t.rs:1 static"]),
        ("core_x::a::X", ["core/src/lib.rs:1 static", "core/tests/t.rs:1 static"]),
        ("gone::a", []),
        ("org.x.Store", ["j/org/y/Main.java:1 static", "j/org/y/Main.java:2 static"]),
        ("org.x", ["j/org/y/Main.java:1 static", "j/org/y/Main.java:2 static"]),
        ("j/org/x/Store.java", ["j/org/y/Main.java:1 static", "j/org/y/Main.java:2 static"]),
        ("inc.h", ["c/main.c:1 static"]),
        ("inc", ["c/main.c:1 static"]),
        ("", []),
        ("...", []),
        ("/", []),
        ("./", []),
    ],
)
def test_C15_importers_in_other_languages(asked: str, expected: list[str]) -> None:
    assert importers(OTHERS, asked) == expected


CRATE = {
    "Cargo.toml": '[package]\nname = "app"',
    "src/lib.rs": "pub mod net;\npub mod a;\nuse crate::net::Conn;",
    "src/net.rs": "pub struct Conn;",
    "src/a.rs": "use super::net::Conn;\nuse super::net::{Conn as D, self};\nuse app::net::Conn as E;",
    "src/main.rs": "mod cli;",
    "src/cli.rs": "",
    "tool/Cargo.toml": '[package]\nname = "tool"',
    "tool/src/main.rs": "mod cli;",
    "tool/src/cli.rs": "",
}
OF_NET = [f"src/a.rs:{line} static" for line in (1, 2, 3)] + ["src/lib.rs:1 static", "src/lib.rs:3 static"]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("src/net.rs", OF_NET),
        ("crate::net", OF_NET),
        ("app::net", OF_NET),
        ("crate::net::Conn", OF_NET),
        ("app::net::Conn", OF_NET),
        ("crate::cli", ["src/main.rs:1 static", "tool/src/main.rs:1 static"]),
        ("crate::gone", []),
    ],
)
def test_C15_a_module_of_rust_has_the_same_importers_by_whichever_name(asked: str, expected: list[str]) -> None:
    """Each statement is counted once, also where its braces lead to the module twice."""
    assert importers(CRATE, asked) == expected


def test_C15_a_statement_that_leads_there_twice_has_the_names_of_both() -> None:
    [row] = [one for one in ask(CRATE, "crate::net").found if (one.path, one.line) == ("src/a.rs", 2)]
    assert sorted(row.names) == ["Conn", "net"]


def test_C15_an_answer_says_what_it_found() -> None:
    (row, *_) = ask(WEB, "src/services/User.ts").found
    assert (row.path, row.line, row.end_line, row.names) == ("src/pages/home.ts", 1, 1, ("User",))
    assert row.text == "import {User} from '../services/User';"
    assert row.target == "src/services/User.ts"


def test_C15_what_a_text_means_is_bounded() -> None:
    resolver = Resolver([f"f{n}/same.py" for n in range(MAX_PATHS + 50)], lambda path: b"")
    assert len(interpret_module("same", resolver).likely) == MAX_PATHS
    assert interpret_module("x" * 100_000, resolver).paths == ()


@pytest.mark.parametrize(
    ("module", "outer", "expected"),
    [
        ("numpy", "numpy", True),
        ("numpy.linalg", "numpy", True),
        ("numpydoc", "numpy", False),
        ("lodash/fp", "lodash", True),
        ("a::b", "a", True),
        ("A\\B", "A", True),
        ("a", "a.b", False),
        ("a", "", False),
    ],
)
def test_C15_what_lies_below_a_module(module: str, outer: str, expected: bool) -> None:
    assert is_within(module, outer) is expected


@given(st.lists(st.text("ab", min_size=1), min_size=1, max_size=6), st.sampled_from([".", "/", "::", "\\"]))
def test_C15_a_module_lies_below_each_of_its_beginnings(parts: list[str], separator: str) -> None:
    module = separator.join(parts)
    within = [module[:end] for end in range(1, len(module) + 1) if is_within(module, module[:end])]
    assert within == [separator.join(parts[:count]) for count in range(1, len(parts) + 1)]


@given(asked=st.text(max_size=20) | st.text("ab./:#\\\"'?*@ ", max_size=12), base=st.none() | st.just("a/b.ts"))
def test_C15_no_question_fails(asked: str, base: str | None) -> None:
    ask({"a/b.ts": "import './c'", "a/c.ts": "", "a/__init__.py": "import a"}, asked, base=base)


def test_C15_a_file_of_no_known_language_keeps_its_text() -> None:
    (target,) = resolver_of({"x.unknown": ""}).resolve("x.unknown", statement("some.module"))
    assert (target.path, target.module) == (None, "some.module")


@pytest.mark.parametrize("ending", [".py", ".ts", ".rs", ".go"])
def test_C15_absolute_paths_lead_nowhere_and_end(ending: str) -> None:
    resolver = resolver_of({f"/a/b{ending}": "", "/a/__init__.py": "", "c.py": ""})
    for module in ("a.b", "./b", "/", "//", "/x/y", "crate::b", "super::b"):
        (target, *_) = resolver.resolve(f"/a/b{ending}", statement(module))
        assert target.path is None
        resolver.resolve(f"/a/b{ending}", statement(module, "x", level=1))


@pytest.mark.slow
def test_C15_many_files_resolve_in_seconds_and_answer_in_milliseconds() -> None:
    files = {f"src/p{n % 50}/m{n}.py": f"from pkg{n % 7} import x\nfrom .m{n - 50} import y\n" for n in range(2_000)}
    files |= {f"src/p{n}/__init__.py": "" for n in range(50)}
    resolver = resolver_of(files)
    table = edges_of(files, resolver)
    started = time.process_time()
    for _ in range(20):
        assert find_importers("src/p1/m1.py", table, resolver).found
    assert (time.process_time() - started) / 20 < 0.05
