"""Where imports of the other languages lead."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.workspace.symbols.imports.samples import resolver_of, statement, targets

from toolroll.workspace.symbols.imports.files import MAX_CONFIG_BYTES, Files, nearest, resolve_path
from toolroll.workspace.symbols.imports.statement import ImportForm
from toolroll.workspace.symbols.languages.registry import importable_extensions

GO = {
    "go.mod": "// why\nmodule example.org/app/v2\n\ngo 1.22\n\nreplace (\n\texample.org/own v1.0.0 => ./own\n)\n",
    "main.go": "",
    "db/db.go": "",
    "own/x/x.go": "",
    "docs/readme.md": "",
    "tool/go.mod": "module example.org/tool\nreplace example.org/out => ../../out\n",
    "tool/cmd/x.go": "",
    "bad/go.mod": "\xff",
}


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("example.org/app/v2/db", "db"),
        ("example.org/own/x", "own/x"),
        ("example.org/tool/cmd", "tool/cmd"),
        ("example.org/app/v2", ""),
        ("example.org/app/v2/docs", "None?"),
        ("example.org/application", "None?"),
        ("fmt", "None?"),
        ("./db", "db"),
    ],
)
def test_C15_packages_of_go(module: str, expected: str) -> None:
    assert targets(GO, "main.go", module) == [expected]


RUST = {
    "core/Cargo.toml": '[package]\nname = "my-core"\n',
    "core/src/lib.rs": "",
    "core/src/a.rs": "",
    "core/src/a/b.rs": "",
    "core/src/c/mod.rs": "",
    "core/src/c/d.rs": "",
    "core/tests/it.rs": "",
    "core/tests/shared/mod.rs": "",
    "app/Cargo.toml": '[package]\nname = "app"\n[dependencies]\ncc = {package = "my-core"}\nserde = "1"\n',
    "app/src/main.rs": "",
    "app/src/cli.rs": "",
    "app/src/bin/tool.rs": "",
    "odd/Cargo.toml": '[package]\nname = "odd"\n[lib]\nname = "even"\npath = "lib/start.rs"\n',
    "odd/lib/start.rs": "",
    "virtual/Cargo.toml": "[workspace]\nmembers = []\n",
    "two/Cargo.toml": '[package]\nname = "two"\n',
    "two/src/lib.rs": "",
    "two/src/main.rs": "",
    "two/src/x.rs": "",
    "none/Cargo.toml": '[package]\nname = "none"\n',
    "none/x.rs": "",
    "loose.rs": "",
}


@pytest.mark.parametrize(
    ("importer", "module", "names", "expected"),
    [
        ("core/src/lib.rs", "crate::a", ("X",), ["core/src/a.rs"]),
        ("core/src/c/d.rs", "crate::a::b", ("X", "Y"), ["core/src/a/b.rs"]),
        ("core/src/c/d.rs", "crate", ("a", "c", "Item"), ["core/src/a.rs", "core/src/c/mod.rs", "core/src/lib.rs"]),
        ("core/src/c/d.rs", "super", ("X",), ["core/src/c/mod.rs"]),
        ("core/src/c/d.rs", "super::super::a", ("*",), ["core/src/a.rs"]),
        ("core/src/c/mod.rs", "super", ("X",), ["core/src/lib.rs"]),
        ("core/src/c/mod.rs", "self::d", ("X",), ["core/src/c/d.rs"]),
        ("core/src/a/b.rs", "super", ("X",), ["core/src/a.rs"]),
        ("core/src/lib.rs", "super::super", ("X",), ["None?"]),
        ("core/src/lib.rs", "a", ("b",), ["core/src/a/b.rs"]),
        ("core/tests/it.rs", "my_core::a", ("X",), ["core/src/a.rs"]),
        ("core/tests/it.rs", "shared", ("X",), ["core/tests/shared/mod.rs"]),
        ("core/tests/it.rs", "crate::shared", ("X",), ["core/tests/shared/mod.rs"]),
        ("app/src/main.rs", "cc::a", ("X",), ["core/src/a.rs"]),
        ("app/src/main.rs", "crate::cli", ("X",), ["app/src/cli.rs"]),
        ("app/src/bin/tool.rs", "app::cli", ("X",), ["app/src/cli.rs"]),
        ("app/src/main.rs", "even", ("X",), ["odd/lib/start.rs"]),
        ("app/src/main.rs", "std::io", ("Read",), ["None?"]),
        ("app/src/main.rs", "serde", (), ["None?"]),
        ("two/src/x.rs", "crate", ("Item",), ["two/src/main.rs"]),
        ("none/x.rs", "crate", ("Item",), ["None?"]),
        ("loose.rs", "crate::x", ("Item",), ["None?"]),
        ("loose.rs", "none", ("Item",), ["None?"]),
    ],
)
def test_C15_modules_of_rust(importer: str, module: str, names: tuple[str, ...], expected: list[str]) -> None:
    assert targets(RUST, importer, module, *names) == expected


@pytest.mark.parametrize(
    ("importer", "module", "form", "expected"),
    [
        ("core/src/lib.rs", "a", "child", "core/src/a.rs"),
        ("core/src/lib.rs", "c", "child", "core/src/c/mod.rs"),
        ("core/src/a.rs", "b", "child", "core/src/a/b.rs"),
        ("core/src/lib.rs", "a::b", "child", "core/src/a/b.rs"),
        ("core/src/lib.rs", "inline::gone", "child", "None?"),
        ("core/src/lib.rs", "c/d.rs", "file", "core/src/c/d.rs"),
        ("core/src/lib.rs", "gone.rs", "file", "None?"),
    ],
)
def test_C15_declared_modules_of_rust(importer: str, module: str, form: ImportForm, expected: str) -> None:
    assert targets(RUST, importer, module, form=form) == [expected]


JVM = dict.fromkeys(
    [
        "app/src/main/java/org/x/Main.java",
        "app/src/main/java/org/x/db/Store.java",
        "app/src/test/java/org/x/db/StoreTest.java",
        "lib/src/main/java/org/x/Main.java",
        "app/src/main/kotlin/org/x/k/Tools.kt",
        "app/src/main/scala/org/x/s/Box.scala",
        "docs/org/x/docs/readme.md",
    ],
    "",
)


@pytest.mark.parametrize(
    ("importer", "module", "names", "expected"),
    [
        ("app/A.java", "org.x.db", ("Store",), ["app/src/main/java/org/x/db/Store.java"]),
        ("app/A.java", "org.x.db.Store", ("method",), ["app/src/main/java/org/x/db/Store.java"]),
        ("app/A.java", "org.x.db.Store.Inner", ("X",), ["app/src/main/java/org/x/db/Store.java"]),
        ("app/A.java", "org.x.db", ("*",), ["app/src/main/java/org/x/db", "app/src/test/java/org/x/db"]),
        ("lib/A.java", "org.x", ("Main",), ["lib/src/main/java/org/x/Main.java"]),
        ("app/A.kt", "org.x.k", ("topLevel",), ["app/src/main/kotlin/org/x/k"]),
        (
            "app/A.scala",
            "org.x.s",
            ("Box", "Gone"),
            ["app/src/main/scala/org/x/s/Box.scala", "app/src/main/scala/org/x/s"],
        ),
        ("app/A.java", "java.util", ("List",), ["None?"]),
        ("app/A.java", "org.x.docs", ("*",), ["None?"]),
        ("app/A.java", "Main", (), ["None?"]),
    ],
)
def test_C15_classes_of_the_jvm(importer: str, module: str, names: tuple[str, ...], expected: list[str]) -> None:
    assert targets(JVM, importer, module, *names) == expected


HEADERS = dict.fromkeys(
    ["src/a.c", "src/a.h", "include/lib/b.h", "x/twin.h", "y/twin.h", "src/string.h", "include/pub.h"], ""
)


@pytest.mark.parametrize(
    ("module", "form", "expected"),
    [
        ("a.h", "file", "src/a.h"),
        ("../x/twin.h", "file", "x/twin.h"),
        ("lib/b.h", "file", "include/lib/b.h"),
        ("lib/b.h", "system", "include/lib/b.h"),
        ("twin.h", "file", "x/twin.h?"),
        ("string.h", "system", "None?"),
        ("pub.h", "system", "include/pub.h"),
        ("../../../a.h", "file", "src/a.h"),
        ("gone.h", "file", "None?"),
        ("..", "file", "None?"),
        ("./", "system", "None?"),
    ],
)
def test_C15_includes_of_c(module: str, form: ImportForm, expected: str) -> None:
    assert targets(HEADERS, "src/a.c", module, form=form) == [expected]


SCRIPTS = {
    "lib/a/b.rb": "",
    "lib/a/c.rb": "",
    "app/one.rb": "",
    "x/two/same.rb": "",
    "y/two/same.rb": "",
    "only.rb": "",
    "bin/run.sh": "",
    "bin/env.sh": "",
    "tools/deep/env2.sh": "",
    "lua/m/init.lua": "",
    "lua/m/n.lua": "",
    "composer.json": '{"autoload": {"psr-4": {"App\\\\": "src/", "Bad\\\\": "../out", "": "root/"}}}',
    "src/Http/Kernel.php": "",
    "root/Plain.php": "",
    "other/Far/Away.php": "",
    "Sources/Core/x.swift": "",
}


@pytest.mark.parametrize(
    ("importer", "module", "names", "form", "expected"),
    [
        ("app/one.rb", "a/b", (), "module", "lib/a/b.rb"),
        ("app/one.rb", "../lib/a/b", (), "file", "lib/a/b.rb"),
        ("lib/a/c.rb", "b", (), "file", "lib/a/b.rb"),
        ("app/one.rb", "two/same", (), "module", "None?"),
        ("app/one.rb", "only", (), "module", "only.rb?"),
        ("app/one.rb", "json", (), "module", "None?"),
        ("bin/run.sh", "./env.sh", (), "file", "bin/env.sh"),
        ("bin/run.sh", "bin/env.sh", (), "file", "bin/env.sh"),
        ("bin/run.sh", "deep/env2.sh", (), "system", "tools/deep/env2.sh"),
        ("bin/run.sh", "env2.sh", (), "system", "tools/deep/env2.sh?"),
        ("bin/run.sh", "../../../env2.sh", (), "file", "tools/deep/env2.sh"),
        ("bin/run.sh", "..", (), "system", "None?"),
        ("main.lua", "m.n", (), "module", "lua/m/n.lua"),
        ("main.lua", "m", (), "module", "lua/m/init.lua?"),
        ("x.php", "App\\Http", ("Kernel",), "module", "src/Http/Kernel.php"),
        ("x.php", "Plain", (), "module", "root/Plain.php"),
        ("x.php", "Very\\Far", ("Away",), "module", "other/Far/Away.php?"),
        ("x.php", "Gone", (), "module", "None?"),
        ("x.php", "src/Http/Kernel.php", (), "file", "src/Http/Kernel.php"),
        ("x.swift", "Core", (), "module", "Sources/Core"),
        ("x.swift", "UIKit", (), "module", "None?"),
        ("x.cs", "System.Text", (), "module", "None?"),
    ],
)
def test_C15_scripts(importer: str, module: str, names: tuple[str, ...], form: ImportForm, expected: str) -> None:
    assert targets(SCRIPTS, importer, module, *names, form=form) == [expected]


def test_C15_a_manifest_too_large_is_none() -> None:
    text = "module example.org/app\n"
    assert targets({"go.mod": text, "db/x.go": ""}, "main.go", "example.org/app/db") == ["db"]
    huge = text + "x" * MAX_CONFIG_BYTES
    assert targets({"go.mod": huge, "db/x.go": ""}, "main.go", "example.org/app/db") == ["None?"]


def test_C15_unreadable_manifests_are_none() -> None:
    files = Files(["go.mod"], lambda path: None)
    assert files.read("go.mod") is None
    assert files.read("absent") is None


def test_C15_paths_are_joined_inside_the_workspace() -> None:
    assert resolve_path("a/b", "../c/./d") == "a/c/d"
    assert resolve_path("a", "../..") is None
    assert resolve_path("", "") == ""
    assert nearest([], "a") is None
    assert nearest(["a/b/x", "a"], "a/b/x/y") == "a/b/x"


@given(
    ending=st.sampled_from(sorted(importable_extensions())),
    module=st.text(max_size=12),
    names=st.lists(st.text(max_size=4), max_size=3),
    data=st.text(max_size=80),
)
def test_C15_no_text_makes_a_resolver_fail(ending: str, module: str, names: list[str], data: str) -> None:
    manifests = ["go.mod", "Cargo.toml", "composer.json", "package.json", "tsconfig.json", "pnpm-workspace.yaml"]
    resolver = resolver_of({**dict.fromkeys(manifests, data), "a/b.x": "", f"a/main{ending}": ""})
    for form in ("module", "file", "system", "child"):
        assert resolver.resolve(f"a/main{ending}", statement(module, *names, form=form))
