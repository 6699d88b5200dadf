"""Import statements out of the code of every language."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.workspace.symbols.imports.samples import shown, statements
from tree_sitter import Parser

from toolroll.workspace.symbols.extract import read_imports
from toolroll.workspace.symbols.imports.statement import (
    MAX_MODULE_CHARACTERS,
    MAX_NAMES,
    MAX_STATEMENTS,
    MAX_TEXT_CHARACTERS,
)
from toolroll.workspace.symbols.languages.registry import LANGUAGES
from toolroll.workspace.symbols.parser import load_grammar


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import a", ["a as a"]),
        ("import a.b as c, d . e", ["a.b as c", "d.e as d"]),
        ("import a as a", ["a as a passes on"]),
        ("from a import b, c as d", ["a takes b,c as b,d"]),
        ("from a import (b,\n  # why\n  c)", ["a takes b,c"]),
        ("from a import b as b", ["a takes b passes on"]),
        ("from a import *", ["a takes *"]),
        ("from . import a", [". takes a"]),
        ("from ... a.b import c", ["...a.b takes c"]),
        ("from __future__ import annotations", ["__future__ takes annotations"]),
        ("def f():\n  import a", ["a as a"]),
        ("if x:\n  import a\nelse:\n  import b", ["a as a conditional", "b as b conditional"]),
        ("try:\n  import a\nexcept ImportError:\n  import b", ["a as a conditional", "b as b conditional"]),
        ("with suppress(ImportError):\n  import a", ["a as a conditional"]),
        ("with x:\n  import a", ["a as a"]),
        ("if TYPE_CHECKING:\n  import a\nelse:\n  import b", ["a as a type", "b as b conditional"]),
        ("if typing.TYPE_CHECKING:\n  from a import b", ["a takes b type"]),
        ("importlib.import_module('a.b')", ["a.b dynamic"]),
        ("import_module(name='a')", ["a dynamic"]),
        ("__import__('a')", ["a dynamic"]),
        ("import_module('.a', 'p.q')", ["p.q.a dynamic"]),
        ("import_module('..a', package='p.q')", ["p.a dynamic"]),
        ("import_module('.', package='p')", ["p dynamic"]),
        ("import_module('.a', __package__)", [".a dynamic"]),
        ("import_module(name)", []),
        ("import_module()", []),
        ("import_module(f'a.{b}')", []),
        ("import_module('')", []),
        ("import_module", []),
        ("self.import_module('a')", []),
        ("'import a'", []),
        ("import", []),
        ("from import b", ["b as b"]),
        ("from a import b as", []),
    ],
)
def test_C20_imports_of_python(code: str, expected: list[str]) -> None:
    assert shown("python", code) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import 'a'", ["a"]),
        ("import a from 'm'", ["m takes default as a"]),
        ("import * as a from 'm'", ["m as a"]),
        ("import a, {b as c, d} from './m.js'", ["./m.js takes default,b,d as a,c,d"]),
        ("import a, * as b from 'm'", ["m takes default as a,b"]),
        ("import {} from 'm'", ["m"]),
        ("import x from './a.json' with {type: 'json'}", ["./a.json takes default as x"]),
        ("export * from 'm'", ["m takes * reexport passes on"]),
        ("export * as a from 'm'", ["m takes * reexport passes on"]),
        ("export {a as b} from 'm'", ["m takes a as b reexport passes on"]),
        ("export {a}", []),
        ("export * from ''", []),
        ("import ''", []),
        ("const a = require('m')", ["m as a"]),
        ("const {a, b: c, ...d} = require('m')", ["m takes a,b as a,c"]),
        ("const a = require('m').b", ["m takes b"]),
        ("require('m')", ["m"]),
        ("f(require('m'))", ["m"]),
        ("if (x) { require('m') }", ["m conditional"]),
        ("function f() { return require('m') }", ["m dynamic"]),
        ("require(/* why */ 'm')", ["m"]),
        ("require(m)", []),
        ("require()", []),
        ("require`m`", []),
        ("const {a} = await import('m')", ["m takes a dynamic"]),
        ("import(`m`)", ["m dynamic"]),
        ("import(`m${x}`)", []),
        ("let a; a = 1", []),
    ],
)
def test_C20_imports_of_javascript(code: str, expected: list[str]) -> None:
    assert shown("javascript", code) == expected
    assert shown("tsx", code) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import type {A} from 'm'", ["m takes A type"]),
        ("import {type A, type B} from 'm'", ["m takes A,B type"]),
        ("import {type A, b} from 'm'", ["m takes A,b"]),
        ("export type {A} from 'm'", ["m takes A type passes on"]),
        ("export type * from 'm'", ["m takes * type passes on"]),
        ("import a = require('m')", ["m as a"]),
        ("import a = b.c", []),
        ("type A = import('m').B", ["m takes B type"]),
        ("let a: typeof import('m')", ["m type"]),
        ("const a = () => import('m')", ["m dynamic"]),
    ],
)
def test_C20_imports_of_typescript(code: str, expected: list[str]) -> None:
    assert shown("typescript", code) == expected


@pytest.mark.parametrize(
    ("language", "code", "expected"),
    [
        ("go", 'import "fmt"', ["fmt as fmt"]),
        ("go", 'import (\n m "math"\n . "x/y"\n _ "z"\n `gopkg.in/yaml.v3`\n "a/b/v2"\n "")',
         ["math as m", "x/y takes *", "z", "gopkg.in/yaml.v3 as yaml", "a/b/v2 as b"]),
        ("java", "import a.b.C;", ["a.b takes C"]),
        ("java", "import static a.b.C.m;", ["a.b.C takes m"]),
        ("java", "import a.b.*;\nimport C;\nimport ;", ["a.b takes *", "C as C"]),
        ("kotlin", "import a.b.C\nimport a.b.*\nimport a.b.c as d\nimport X",
         ["a.b takes C", "a.b takes *", "a.b takes c as d", "X as X"]),
        ("scala", "import a.b.C\nimport a.b._", ["a.b takes C", "a.b takes *"]),
        ("scala", "import a.b.{C => D, E, F => _, _}", ["a.b takes C,E,F,* as D,E"]),
        ("scala", "import _root_.x.Y, d.e\nexport a.b.c", ["x takes Y", "d takes e", "a.b takes c reexport passes on"]),
        ("scala", "import a", ["a"]),
        ("csharp", "using A.B;\nusing static A.C;\nusing X = A.D;\nglobal using E;",
         ["A.B takes *", "A.C takes *", "A.D as X", "E takes * reexport passes on"]),
        ("csharp", "using (var f = g()) {}", []),
        ("c", '#include <a/b.h>\n#include "c.h"\n#include X\n#include ""\n', ["a/b.h system", "c.h file"]),
        ("c", '#ifdef X\n#include "c.h"\n#endif\n', ["c.h conditional file"]),
        ("c", '#ifndef X_H\n#define X_H\n#include "c.h"\n#endif\n', ["c.h file"]),
        ("cpp", "#include <vector>\n", ["vector system"]),
        ("ruby", "require 'a/b'\nrequire_relative '../c'\nload 'd.rb'\nautoload :E, 'e/f'\nrequire(\"g\")",
         ["a/b", "../c file", "d.rb dynamic", "e/f takes E dynamic", "g"]),
        ("ruby", "require x\nrequire", []),
        ("php", "<?php use A\\B; use A\\C as D, E\\F; use G;", ["A takes B", "A takes C as D", "E takes F", "G as G"]),
        ("php", "<?php use A\\{B, C as D, function e}; use \\H\\I;",
         ["A takes B", "A takes C as D", "A takes e", "H takes I"]),
        ("php", "<?php require 'a.php'; require_once('b.php'); include X; include X . Y; include (); include '';",
         ["a.php file", "b.php file"]),
        ("php", "<?php include __DIR__ . '/c.php'; include dirname(__FILE__).'/d.php'; include ROOT . '/e/f.php';",
         ["./c.php file", "./d.php file", "e/f.php system"]),
        ("php", "<?php if (x) { include 'a.php'; }", ["a.php conditional file"]),
        ("swift", "import A\nimport class B.C\nimport D.E\n@_exported import F",
         ["A as A", "B takes C", "D.E as D", "F as F reexport passes on"]),
        ("bash", "source ./a.sh\n. 'b.sh'\nif x; then . c.sh; fi\nsource",
         ["./a.sh file", "b.sh file", "c.sh conditional file"]),
        ("bash", '. "$(dirname "$0")/d.sh"\nsource "${BASH_SOURCE%/*}/e.sh"', ["./d.sh file", "./e.sh file"]),
        ("bash", 'source "$X/f.sh"\nsource "${X}/g/h.sh"\nsource "$X"',
         ["f.sh dynamic system", "g/h.sh dynamic system"]),
        ("lua", "local a = require('a.b')\nrequire 'c'\nrequire [[d]]\ndofile('e.lua')\npcall(require, 'f')",
         ["a.b", "c", "d", "e.lua system", "f conditional"]),
        ("lua", "require(x)\nrequire()\npcall(f, 'x')\npcall(require, x)", []),
    ],
)  # fmt: skip
def test_C20_imports_of_other_languages(language: str, code: str, expected: list[str]) -> None:
    assert shown(language, code) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("use a::b::{self, c as d, e::*, f::{g, h}};",
         ["a takes b", "a::b takes c as d", "a::b::e takes *", "a::b::f takes g,h"]),
        ("use serde;", ["serde as serde"]),
        ("use {a, b::c, d as e};", ["a as a", "d as e", "b takes c"]),
        ("use ::std::{io, /* why */ fmt};", ["std takes io,fmt"]),
        ("use a::b as _;", ["a takes b"]),
        ("pub use crate::x::Y;", ["crate::x takes Y reexport passes on"]),
        ("pub(crate) use self::k::*;", ["self::k takes * reexport passes on"]),
        ("mod foo;", ["foo as foo child"]),
        ("pub mod r#try;", ["try as try child passes on"]),
        ('#[cfg(test)]\n#[path = "x/y.rs"]\nmod foo;', ["x/y.rs as foo file"]),
        ("#[cfg(test)]\nmod foo;", ["foo as foo child"]),
        ("#[x]\n#[path]\nmod foo;", ["foo as foo child"]),
        ("extern crate a as b;\nextern crate c;", ["a as b", "c as c"]),
        ("mod a { use super::b; use self::c::d; use super::super::e; use f::g; mod h; }",
         ["self takes b", "self::a::c takes d", "super takes e", "f takes g", "a::h as h child"]),
        ("mod a { mod b { use super::c::d; } }", ["self::a::c takes d"]),
        ("use *;", []),
        ("use ;\nmod ;\nextern crate ;", []),
    ],
)  # fmt: skip
def test_C20_imports_of_rust(code: str, expected: list[str]) -> None:
    assert shown("rust", code) == expected


def test_C20_statements_know_their_place_and_text() -> None:
    first, second, third = statements("python", "import a\r\nfrom b import (\n  c,\n)\n\nimport d\n")
    assert [(each.line, each.end_line) for each in (first, second, third)] == [(1, 1), (2, 4), (6, 6)]
    assert second.text == "from b import (\n  c,\n)"
    (include,) = statements("c", '#include "x.h"\n')
    assert (include.line, include.end_line, include.text) == (1, 1, '#include "x.h"')
    (required,) = statements("javascript", "const {\n  a\n} = require('m');")
    assert (required.line, required.end_line) == (1, 3)
    assert required.text.startswith("const {")


def test_C20_statements_are_bounded() -> None:
    names = ", ".join(f"name{n}" for n in range(MAX_NAMES + 10))
    (long,) = statements("python", f"from a import {names}")
    assert (len(long.names), len(long.binds), len(long.text)) == (MAX_NAMES, MAX_NAMES, MAX_TEXT_CHARACTERS)
    assert statements("javascript", f"import '{'x' * (MAX_MODULE_CHARACTERS + 1)}'") == ()
    assert len(statements("javascript", "import 'a';" * (MAX_STATEMENTS + 5))) == MAX_STATEMENTS
    assert statements("javascript", "import 'a\x00b'") == ()


def test_C20_deep_nesting_is_read_as_far_as_it_is_worth() -> None:
    assert shown("rust", "use " + "a::{" * 40 + "x" + "}" * 40 + ";") == []
    loops = "".join(" " * depth + "for x in y:\n" for depth in range(40))
    assert shown("python", loops + " " * 40 + "import a") == ["a as a"]
    assert shown("javascript", "{" * 200 + "require('m')" + "}" * 200) == ["m"]


def test_C20_a_language_without_a_reader_has_no_imports() -> None:
    data = b"import a"
    tree = Parser(load_grammar(LANGUAGES["python"])).parse(data)
    assert read_imports(replace(LANGUAGES["python"], read_import=None), tree, data) == ()


WORDS = (
    "import from use mod require include a as source export type static if : try load autoload pcall extern crate = "
    ". :: { } ( ) ' \" * , ; \\ # < > $x __DIR__ \x00 é <?php /* @_exported"
)
PIECES = ["\n", " ", *WORDS.split(" "), *(word + " " for word in WORDS.split(" "))]


@pytest.mark.parametrize("language", sorted(LANGUAGES))
@given(pieces=st.lists(st.sampled_from(PIECES), max_size=30))
def test_C20_broken_code_never_fails(language: str, pieces: list[str]) -> None:
    for each in statements(language, "".join(pieces)):
        assert each.module or each.level
        assert each.module.isprintable()
        assert 1 <= each.line <= each.end_line


@pytest.mark.parametrize("language", sorted(LANGUAGES))
@given(data=st.binary(max_size=200))
def test_C20_arbitrary_bytes_never_fail(language: str, data: bytes) -> None:
    statements(language, data)
    statements(language, b"import " + data)
