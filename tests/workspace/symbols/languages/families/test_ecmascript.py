"""Where imports of JavaScript and TypeScript lead."""

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.workspace.symbols.imports.samples import resolver_of, statement, targets

from toolroll.workspace.symbols.languages.families.tsconfig import MAX_EXTENDS, match_pattern


def tree(*paths: str, **manifests: Any) -> dict[str, str]:
    """Empty files, and manifests by their path with `__` for `/` and `_` for `.`."""
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in manifests.items()}
    return {
        **dict.fromkeys(paths, ""),
        **{name.replace("__", "/").replace("_", "."): text for name, text in texts.items()},
    }


PLAIN = tree(
    "a.ts", "b.tsx", "c.js", "d/index.ts", "e.d.ts", "both.ts", "both.js", "v.vue", "x.json", "sub/in.ts", "m.mts"
)


@pytest.mark.parametrize(
    ("importer", "module", "expected"),
    [
        ("main.ts", "./a", "a.ts"),
        ("main.ts", "./b", "b.tsx"),
        ("main.ts", "./a.js", "a.ts"),
        ("main.ts", "./b.jsx", "b.tsx"),
        ("main.ts", "./m.mjs", "m.mts"),
        ("main.ts", "./c.js", "c.js"),
        ("main.ts", "./d", "d/index.ts"),
        ("main.ts", "./e", "e.d.ts"),
        ("main.ts", "./both", "both.ts"),
        ("main.ts", "./both.js", "both.ts"),
        ("main.js", "./both", "both.js"),
        ("main.js", "./both.js", "both.js"),
        ("main.js", "./v.vue", "v.vue"),
        ("main.js", "./x.json?raw", "x.json"),
        ("sub/in.ts", "..", "None?"),
        ("sub/in.ts", "../d/", "d/index.ts"),
        ("sub/in.ts", "../../a", "None?"),
        ("sub/in.ts", "/a", "a.ts"),
        ("main.ts", "./sub", "None?"),
        ("main.ts", "react", "None?"),
        ("d/other.ts", ".", "d/index.ts"),
    ],
)
def test_C15_relative_specifiers(importer: str, module: str, expected: str) -> None:
    assert targets(PLAIN, importer, module) == [expected]


OPTIONS = {
    "baseUrl": "src",
    "paths": {"@/*": ["*"], "@app/*": ["gone/*", "app/*"], "exact": ["app/x.ts"], "up": ["../../.."]},
}


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("@/app/x", "src/app/x.ts"),
        ("@app/x", "src/app/x.ts"),
        ("exact", "src/app/x.ts"),
        ("app/x", "src/app/x.ts"),
        ("up", "None?"),
        ("exactly", "None?"),
        ("@/../../../gone", "None?"),
        ("gone/../../../../gone", "None?"),
    ],
)
@pytest.mark.parametrize("name", ["tsconfig_json", "jsconfig_json"])
def test_C15_tsconfig_paths_and_base(name: str, module: str, expected: str) -> None:
    files = tree("src/app/x.ts", "src/main.ts", **{name: {"compilerOptions": OPTIONS}})
    assert targets(files, "src/deep/main.ts", module) == [expected]


def test_C15_each_folder_has_its_configuration() -> None:
    mapped = {"compilerOptions": {"baseUrl": "."}}
    resolver = resolver_of(tree("x.ts", "p/x.ts", "p/q/y.ts", tsconfig_json=mapped, p__tsconfig_json=mapped))
    folders = {"": "x.ts", "p/": "p/x.ts", "p/q/": "p/x.ts", "r/": "x.ts"}
    found = {folder: resolver.resolve(folder + "main.ts", statement("x"))[0].path for folder in folders}
    assert found == folders
    assert resolver.resolve("r/other.ts", statement("y"))[0].path is None


def test_C15_a_base_may_lie_outside() -> None:
    files = tree("x.ts", tsconfig_json={"compilerOptions": {"baseUrl": "../.."}})
    assert targets(files, "main.ts", "x") == ["None?"]


@pytest.mark.parametrize(
    "manifests",
    [
        {"tsconfig_json": '{"extends": "./base.json", /* why */}'},
        {"tsconfig_json": {"extends": ["./other", "./base"]}, "other_json": {}},
        {"tsconfig_json": {"files": [], "references": [{"path": "./gone"}, {"path": "./base.json"}, 1]}},
        {"tsconfig_json": {"extends": "./deep"}, "deep__tsconfig_json": {"extends": "../base.json"}},
        {"app__tsconfig_json": {"compilerOptions": {"strict": True}}, "tsconfig_json": {"extends": "./base.json"}},
    ],
)
def test_C15_tsconfig_extends_and_references(manifests: dict[str, Any]) -> None:
    files = tree("lib/x.ts", base_json={"compilerOptions": {"paths": {"~/*": ["./lib/*"]}}}, **manifests)
    assert targets(files, "app/main.ts", "~/x") == ["lib/x.ts"]


def test_C15_a_configuration_outranks_what_it_extends() -> None:
    files = tree(
        "one/x.ts",
        "two/x.ts",
        tsconfig_json={"extends": "./base.json", "compilerOptions": {"baseUrl": "."}},
        base_json={"compilerOptions": {"baseUrl": "two", "paths": {"~/*": ["*"]}}},
    )
    assert targets(files, "main.ts", "one/x") == ["one/x.ts"]
    assert targets(files, "main.ts", "~/x") == ["two/x.ts"]


def test_C15_paths_of_a_base_follow_the_nearest_base_folder() -> None:
    files = tree(
        "one/x.ts",
        tsconfig_json={"extends": "./cfg/base.json", "compilerOptions": {"baseUrl": "one"}},
        cfg__base_json={"compilerOptions": {"paths": {"~/*": ["*"]}}},
    )
    assert targets(files, "main.ts", "~/x") == ["one/x.ts"]


def test_C15_the_folder_of_the_asking_configuration() -> None:
    base = {"compilerOptions": {"paths": {"~/*": ["${configDir}/src/*"]}}}
    files = tree("app/src/x.ts", app__tsconfig_json={"extends": "../cfg/base.json"}, cfg__base_json=base)
    assert targets(files, "app/main.ts", "~/x") == ["app/src/x.ts"]
    here = tree("src/x.ts", tsconfig_json=base)
    assert targets(here, "main.ts", "~/x") == ["src/x.ts"]


def test_C15_loops_and_trees_of_extends_end() -> None:
    loop = tree("x.ts", tsconfig_json={"extends": "./b.json"}, b_json={"extends": ["./tsconfig.json", "./b.json"]})
    assert targets(loop, "main.ts", "~/x") == ["None?"]
    many = {f"c{n}_json": {"extends": [f"./c{n + 1}.json", f"./c{n + 2}.json"]} for n in range(3 * MAX_EXTENDS)}
    assert targets(tree("x.ts", tsconfig_json={"extends": "./c0.json"}, **many), "main.ts", "~/x") == ["None?"]
    assert targets(tree("x.ts", tsconfig_json={"extends": "@tsconfig/node"}), "main.ts", "x") == ["None?"]


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [("a", "a", ""), ("a", "b", None), ("a/*", "a/b", "b"), ("*x", "yx", "y"), ("aa*aa", "aaa", None), ("*", "q", "q")],
)
def test_C15_patterns_match_once(pattern: str, name: str, expected: str | None) -> None:
    assert match_pattern(pattern, name) == expected


def package(**manifest: Any) -> dict[str, Any]:
    return {"name": "@x/lib", **manifest}


@pytest.mark.parametrize(
    ("manifest", "module", "expected"),
    [
        ({"exports": "./src/index.ts"}, "@x/lib", "p/lib/src/index.ts"),
        ({"exports": {".": {"a": {"b": "./gone.d.ts", "c": "./src/index.ts"}}}}, "@x/lib", "p/lib/src/index.ts"),
        ({"exports": {"import": "./src/index.ts"}}, "@x/lib", "p/lib/src/index.ts"),
        ({"exports": {"./*": ["./gone/*.ts", "./src/*.ts"]}}, "@x/lib/a", "p/lib/src/a.ts"),
        ({"exports": {"./sub/": "./src/"}}, "@x/lib/sub/a", "p/lib/src/a.ts"),
        ({"exports": {"./a": "./src/a.ts", "./*": "./src/index.ts"}}, "@x/lib/a", "p/lib/src/a.ts"),
        ({"exports": {"./b": None}}, "@x/lib/b", "None?"),
        ({"exports": {"./none": "../../../../out.ts"}}, "@x/lib/none", "None?"),
        ({"main": "src/index.ts"}, "@x/lib", "p/lib/src/index.ts"),
        ({"main": "./src"}, "@x/lib", "p/lib/src/index.ts"),
        ({}, "@x/lib", "p/lib/src/index.ts"),
        ({}, "@x/lib/src/a", "p/lib/src/a.ts"),
        ({}, "@x/lib/a", "p/lib/src/a.ts?"),
        ({"exports": {".": "./dist/index.js", "./a": "./dist/esm/a.d.ts"}}, "@x/lib", "p/lib/src/index.ts?"),
        ({"exports": {".": "./dist/index.js", "./a": "./dist/esm/a.d.ts"}}, "@x/lib/a", "p/lib/src/a.ts?"),
        ({}, "@x/other", "None?"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "workspace",
    [
        {"package_json": {"workspaces": ["p/*", "!p/not", "../out/*"]}},
        {"package_json": {"workspaces": {"packages": ["**/lib"]}}},
        {"pnpm-workspace_yaml": "# why\npackages:\n  - 'p/**' # all\n  # none\ncatalog:\n  - x\n"},
    ],
    ids=["npm", "yarn", "pnpm"],
)
def test_C15_packages_of_a_workspace(
    workspace: dict[str, Any], manifest: dict[str, Any], module: str, expected: str
) -> None:
    files = tree("p/lib/src/index.ts", "p/lib/src/a.ts", p__lib__package_json=package(**manifest), **workspace)
    assert targets(files, "p/app/main.ts", module) == [expected]


def test_C15_a_package_that_no_workspace_names_is_a_guess() -> None:
    files = tree("p/lib/index.js", "p/lib/in.js", p__lib__package_json=package(), package_json={"workspaces": ["q/*"]})
    assert targets(files, "app/main.js", "@x/lib") == ["p/lib/index.js?"]
    assert targets(files, "p/lib/in.js", "@x/lib") == ["p/lib/index.js"]


def test_C15_private_names_of_a_package() -> None:
    manifest = {"imports": {"#db": {"node": "./src/db.js"}, "#lib/*": "./src/*.js"}}
    files = tree("src/db.js", "src/a.js", package_json=manifest)
    assert targets(files, "src/main.js", "#db") == ["src/db.js"]
    assert targets(files, "src/main.js", "#lib/a") == ["src/a.js"]
    assert targets(files, "src/main.js", "#gone") == ["None?"]
    assert targets(tree("src/db.js"), "src/main.js", "#db") == ["None?"]


def test_C15_a_folder_with_a_manifest() -> None:
    main = tree("lib/start.js", lib__package_json={"main": "start"})
    assert targets(main, "main.js", "./lib") == ["lib/start.js"]
    broken = tree("lib/index.js", lib__package_json={"main": "gone"})
    assert targets(broken, "main.js", "./lib") == ["lib/index.js"]
    exports = tree("lib/index.js", "lib/x.js", lib__package_json={"exports": "./x.js"})
    assert targets(exports, "main.js", "./lib") == ["lib/index.js"]


def test_C15_hostile_manifests_take_no_time() -> None:
    deep: object = "./x.js"
    for _ in range(500):
        deep = {"import": deep}
    files = tree(
        *(f"{'a' * 100}{n}/package.json" for n in range(50)),
        package_json={
            "name": "self",
            "exports": deep,
            "imports": {"#a": [deep]},
            "workspaces": ["*a" * 60 + "b"] * 900,
        },
    )
    started = time.process_time()
    assert targets(files, "main.js", "self") == ["None?"]
    assert targets(files, "main.js", "#a") == ["None?"]
    assert time.process_time() - started < 3


JSON = st.recursive(
    st.sampled_from(["./x", "a", "*", "./*", "..", "", "x.ts", "."]) | st.none() | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([".", "./*", "#x", "a", "*"]), inner),
    max_leaves=8,
)
FIELDS = [
    "name",
    "main",
    "exports",
    "imports",
    "workspaces",
    "extends",
    "compilerOptions",
    "paths",
    "baseUrl",
    "references",
]


@settings(max_examples=50)
@given(
    one=st.dictionaries(st.sampled_from(FIELDS), JSON),
    options=st.dictionaries(st.sampled_from(FIELDS), JSON),
    module=st.sampled_from(["a", "#x", "./x", "a/b", "@", "@a", "", "..", "/", "*"]) | st.text(max_size=8),
)
def test_C15_no_manifest_makes_javascript_fail(one: dict[str, Any], options: dict[str, Any], module: str) -> None:
    whole = {**one, "compilerOptions": options}
    files = tree("x.ts", "a/index.ts", a__package_json=one, package_json=one, tsconfig_json=whole, x_json=whole)
    assert len(targets(files, "a/main.ts", module)) == 1
