"""The folders that absolute imports of Python start from, as far as files tell."""

from posixpath import dirname

from toolroll.workspace.symbols.imports.resolve.files import Files, resolve_path
from toolroll.workspace.symbols.imports.resolve.jsonc import as_table, as_text, as_texts
from toolroll.workspace.symbols.imports.resolve.toml import read_ini, read_toml, within

PACKAGE_FILES = ("__init__.py", "__init__.pyi")
MANIFESTS = ("pyproject.toml", "setup.cfg", "setup.py")


def python_roots(files: Files) -> frozenset[str]:
    """Folders above top packages, those that manifests name, `src` beside a manifest, and the workspace's own."""
    roots = {""}
    for name in PACKAGE_FILES:
        roots.update(_above_package(files, dirname(path)) for path in files.named(name))
    for manifest in MANIFESTS:
        for path in files.named(manifest):
            folder = dirname(path)
            declared = [resolve_path(folder, each) for each in ("", "src", *_declared(files, manifest, path))]
            roots.update(each for each in declared if each is not None and files.has_folder(each))
    return frozenset(roots)


def is_package(files: Files, folder: str) -> bool:
    """Whether a folder is a regular package."""
    return any((f"{folder}/{name}" if folder else name) in files for name in PACKAGE_FILES)


def is_inside_unnamed(files: Files, folder: str) -> bool:
    """Whether a folder is part of a package whose name is not known: the workspace itself, with no manifest in it."""
    if any(manifest in files for manifest in MANIFESTS):
        return False
    return is_package(files, folder) and is_package(files, _above_package(files, folder))


def _above_package(files: Files, folder: str) -> str:
    while folder and is_package(files, folder):
        folder = dirname(folder)
    return folder


def _declared(files: Files, manifest: str, path: str) -> list[str]:
    if manifest == "pyproject.toml":
        return _pyproject(files, path)
    return _setup_cfg(files, path) if manifest == "setup.cfg" else []


def _pyproject(files: Files, path: str) -> list[str]:
    """What setuptools, Poetry, Hatch, PDM, pytest and Pyright are told; one `package-dir` may name several."""
    tool = as_table(read_toml(files.read(path)).get("tool"))
    setuptools = as_table(tool.get("setuptools"))
    wheel = within(tool, "hatch", "build", "targets", "wheel")
    poetry = as_table(tool.get("poetry")).get("packages")
    return [
        *as_texts(as_table(setuptools.get("package-dir")).get("")),
        *as_texts(within(setuptools, "packages", "find").get("where")),
        *(
            each
            for item in (poetry if isinstance(poetry, list) else [])
            if (each := as_text(as_table(item).get("from")))
        ),
        *(dirname(each) for each in as_texts(wheel.get("packages"))),
        *as_texts(wheel.get("sources")),
        *as_texts(within(tool, "pdm", "build").get("package-dir")),
        *as_texts(within(tool, "pytest", "ini_options").get("pythonpath")),
        *as_texts(as_table(tool.get("pyright")).get("extraPaths")),
    ]


def _setup_cfg(files: Files, path: str) -> list[str]:
    sections = read_ini(files.read(path))
    pairs = [line.partition("=") for line in sections.get("options", {}).get("package_dir", "").splitlines()]
    where = sections.get("options.packages.find", {}).get("where", "").split()
    return [*(folder.strip() for package, _, folder in pairs if not package.strip() and folder.strip()), *where]
