"""Where imports of Python lead."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.workspace.symbols.imports.samples import resolver_of, statement, targets

FLAT = dict.fromkeys(
    [
        "pkg/__init__.py",
        "pkg/mod.py",
        "pkg/sub/__init__.py",
        "pkg/sub/deep.py",
        "pkg/both.py",
        "pkg/both/__init__.py",
        "pkg/stub.pyi",
        "ns/inner/thing.py",
        "scripts/run.py",
        "scripts/beside.py",
        "scripts/json.py",
        "types.py",
    ],
    "",
)


@pytest.mark.parametrize(
    ("importer", "module", "names", "expected"),
    [
        ("scripts/run.py", "pkg", (), ["pkg/__init__.py"]),
        ("scripts/run.py", "pkg.mod", (), ["pkg/mod.py"]),
        ("scripts/run.py", "pkg", ("mod", "Name"), ["pkg/__init__.py", "pkg/mod.py"]),
        ("scripts/run.py", "pkg", ("*",), ["pkg/__init__.py"]),
        ("scripts/run.py", "pkg.both", (), ["pkg/both/__init__.py"]),
        ("scripts/run.py", "pkg.stub", (), ["pkg/stub.pyi"]),
        ("scripts/run.py", "ns.inner.thing", (), ["ns/inner/thing.py"]),
        ("scripts/run.py", "ns.inner", ("thing",), ["ns/inner/thing.py"]),
        ("scripts/run.py", "beside", (), ["scripts/beside.py"]),
        ("scripts/run.py", "json", (), ["scripts/json.py"]),
        ("pkg/mod.py", "json", (), ["None?"]),
        ("pkg/mod.py", "beside", (), ["None?"]),
        ("pkg/mod.py", "numpy", (), ["None?"]),
        ("pkg/mod.py", "inner.thing", (), ["ns/inner/thing.py?"]),
        ("pkg/mod.py", "os.thing", (), ["None?"]),
    ],
)
def test_C15_absolute_imports_of_python(
    importer: str, module: str, names: tuple[str, ...], expected: list[str]
) -> None:
    assert targets(FLAT, importer, module, *names) == expected


@pytest.mark.parametrize(
    ("importer", "level", "module", "names", "expected"),
    [
        ("pkg/mod.py", 1, "", ("sub", "X"), ["pkg/__init__.py", "pkg/sub/__init__.py"]),
        ("pkg/__init__.py", 1, "mod", ("X",), ["pkg/mod.py"]),
        ("pkg/sub/deep.py", 2, "mod", ("*",), ["pkg/mod.py"]),
        ("pkg/sub/deep.py", 3, "types", (), ["types.py"]),
        ("ns/inner/thing.py", 1, "", ("thing",), ["ns/inner/thing.py"]),
        ("pkg/mod.py", 1, "absent", ("X",), ["None?"]),
        ("pkg/mod.py", 4, "x", (), ["None?"]),
        ("types.py", 1, "pkg", (), ["pkg/__init__.py"]),
        ("types.py", 1, "", ("types",), ["types.py"]),
    ],
)
def test_C15_relative_imports_of_python(
    importer: str, level: int, module: str, names: tuple[str, ...], expected: list[str]
) -> None:
    assert targets(FLAT, importer, module, *names, level=level) == expected


def test_C15_relative_imports_get_their_full_name() -> None:
    files = {"src/pkg/__init__.py": "", "src/pkg/a.py": "", "src/pkg/b.py": ""}
    found = resolver_of(files).resolve("src/pkg/a.py", statement("", "b", level=1))
    assert [each.module for each in found] == ["pkg", "pkg.b"]


@pytest.mark.parametrize(
    "manifest",
    [
        {"setup.py": ""},
        {"setup.cfg": "[options]\npackage_dir =\n    =src\n    x = y\n"},
        {"setup.cfg": "[options.packages.find]\nwhere = src\n"},
        {"pyproject.toml": "[project]\nname = 'x'"},
        {"pyproject.toml": "not = [toml"},
        {"setup.cfg": "no section"},
    ],
)
def test_C15_src_layouts(manifest: dict[str, str]) -> None:
    files = {"src/app/db.py": "", "src/app/main.py": "", **manifest}
    assert targets(files, "src/app/main.py", "app.db") == ["src/app/db.py"]


@pytest.mark.parametrize(
    "manifest",
    [
        "[tool.setuptools]\npackage-dir = {'' = 'code'}",
        "[tool.setuptools.packages.find]\nwhere = ['code', '../outside', 'absent']",
        "[tool.poetry]\npackages = [{include = 'app', from = 'code'}, 'odd', {include = 'x'}]",
        "[tool.hatch.build.targets.wheel]\npackages = ['code/app']",
        "[tool.hatch.build.targets.wheel]\nsources = ['code']",
        "[tool.pdm.build]\npackage-dir = 'code'",
        "[tool.pytest.ini_options]\npythonpath = 'code'",
        "[tool.pyright]\nextraPaths = ['code', 1]",
    ],
)
def test_C15_roots_that_manifests_name(manifest: str) -> None:
    files = {"pyproject.toml": manifest, "code/app/db.py": "", "x/run.py": ""}
    assert targets(files, "x/run.py", "app.db") == ["code/app/db.py"]


def test_C15_a_package_next_door_comes_first() -> None:
    files = dict.fromkeys(["a/lib/__init__.py", "b/lib/__init__.py", "b/tool/x.py", "a/types/__init__.py"], "")
    assert targets(files, "b/tool/x.py", "lib") == ["b/lib/__init__.py"]
    assert targets(files, "b/tool/x.py", "types") == ["None?"]
    assert targets(files, "c.py", "lib") == ["a/lib/__init__.py"]


def test_C15_a_workspace_that_is_itself_a_package() -> None:
    files = dict.fromkeys(["__init__.py", "a.py", "b.py"], "")
    assert targets(files, "a.py", "", "b", level=1) == ["__init__.py", "b.py"]


@pytest.mark.parametrize(
    ("importer", "module", "expected"),
    [
        ("a.py", "typing", ["None?"]),
        ("a.py", "b", ["None?"]),
        ("sub/c.py", "typing", ["None?"]),
        ("sub/c.py", "b", ["None?"]),
        ("sub/c.py", "sub.d", ["sub/d.py?"]),
        ("scripts/run.py", "typing", ["None?"]),
        ("scripts/run.py", "b", ["b.py"]),
    ],
)
def test_C15_a_package_does_not_see_its_modules_by_bare_names(importer: str, module: str, expected: list[str]) -> None:
    names = ["__init__.py", "a.py", "b.py", "typing.py", "sub/__init__.py", "sub/c.py", "sub/d.py", "scripts/run.py"]
    assert targets(dict.fromkeys(names, ""), importer, module) == expected


def test_C15_a_manifest_makes_a_package_a_root_but_not_of_the_standard_library() -> None:
    files = dict.fromkeys(["pyproject.toml", "__init__.py", "typing.py", "app/__init__.py", "app/a.py", "app/b.py"], "")
    assert targets(files, "app/a.py", "app.b") == ["app/b.py"]
    assert targets(files, "app/a.py", "typing") == ["None?"]


@example(names=[], module="/", level=2, manifest="", paths=set())
@given(
    names=st.lists(st.text(max_size=5), max_size=4),
    module=st.text(max_size=12),
    level=st.integers(0, 5),
    manifest=st.text(max_size=60),
    paths=st.sets(st.text("ab/._py", min_size=1, max_size=9), max_size=6),
)
def test_C15_no_text_makes_python_fail(
    names: list[str], module: str, level: int, manifest: str, paths: set[str]
) -> None:
    files = {**dict.fromkeys(paths, ""), "pyproject.toml": manifest, "setup.cfg": manifest, "a/b.py": ""}
    assert targets(files, "a/b.py", module, *names, level=level)
