"""Read tsconfig.json and jsconfig.json: `baseUrl`, `paths` and `extends` map names to paths."""

from collections.abc import Iterator
from dataclasses import dataclass
from posixpath import dirname
from typing import Final

from toolroll.workspace.symbols.imports.files import Files, folders_upward, join_path, resolve_path
from toolroll.workspace.symbols.imports.manifests import Table, as_table, as_text, as_texts, read_table

CONFIG_NAMES: Final = ("tsconfig.json", "jsconfig.json")
MAX_EXTENDS: Final = 32  # files read for one configuration: loops end, and so do trees that grow at each step
MAX_PATTERNS: Final = 1_000  # of `paths`

_HERE: Final = "${configDir}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapping:
    """One configuration: how names become paths from the root of the workspace."""

    base: str | None = None
    """The folder of `baseUrl`."""
    patterns: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Names with at most one `*`, each with the paths to try, the most exact first."""

    def candidates(self, name: str) -> Iterator[str]:
        """Yield the paths to try for a name, in order."""
        for pattern, targets in self.patterns:
            middle = match_pattern(pattern, name)
            if middle is not None:
                for target in targets:
                    path = resolve_path("", target.replace("*", middle, 1))
                    if path is not None:
                        yield path
                break
        if self.base is not None:
            path = resolve_path(self.base, name)
            if path is not None:
                yield path


def match_pattern(pattern: str, name: str) -> str | None:
    """Return what the `*` of a pattern stands for in a name; None where they differ."""
    start, star, end = pattern.partition("*")
    if not star:
        return "" if pattern == name else None
    fits = len(name) >= len(start) + len(end) and name.startswith(start) and name.endswith(end)
    return name[len(start) : len(name) - len(end)] if fits else None


class Configurations:
    """The configuration that holds for each folder, read once."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._by_folder: dict[str, Mapping] = {}

    def for_folder(self, folder: str) -> Mapping:
        """Return the nearest configuration that maps anything; one without a map is a part of the one above."""
        if folder not in self._by_folder:
            self._by_folder[folder] = self._nearest(folder)
        return self._by_folder[folder]

    def _nearest(self, folder: str) -> Mapping:
        for above in folders_upward(folder):
            if above in self._by_folder:
                return self._by_folder[above]
            for name in CONFIG_NAMES:
                mapping = self._of(join_path(above, name), above)
                if mapping is not None:
                    return mapping
        return Mapping()

    def _of(self, path: str, folder: str) -> Mapping | None:
        """Return its own map, else that of a configuration it refers to: starters have it in `tsconfig.app.json`."""
        references = read_table(self._files.read(path)).get("references")
        others = [as_text(as_table(item).get("path")) for item in references] if isinstance(references, list) else []
        places = [path, *(self._file(folder, other) for other in others[:MAX_EXTENDS] if other)]
        mappings = (self._mapping(place) for place in places if place is not None)
        return next((mapping for mapping in mappings if mapping is not None), None)

    def _mapping(self, path: str) -> Mapping | None:
        """Return the nearest `baseUrl` and `paths` along `extends`; later parents outrank earlier ones."""
        base: str | None = None
        patterns: tuple[tuple[str, tuple[str, ...]], ...] | None = None
        for place, settings in self._chain(path):
            options = as_table(settings.get("compilerOptions"))
            folder = dirname(place)
            own_base = as_text(options.get("baseUrl"))
            own = None if own_base is None else resolve_path(folder, _expand_config_dir(own_base, path, folder))
            base = own if base is None else base
            if patterns is None and "paths" in options:
                from_here = own if own is not None else base if base is not None else folder
                patterns = _patterns(as_table(options["paths"]), from_here, path)
        return Mapping(base=base, patterns=patterns or ()) if base is not None or patterns else None

    def _chain(self, path: str) -> Iterator[tuple[str, Table]]:
        waiting, seen = [path], {path}
        while waiting and len(seen) <= MAX_EXTENDS:
            place = waiting.pop(0)
            settings = read_table(self._files.read(place))
            yield place, settings
            for parent in reversed(as_texts(settings.get("extends"))):
                target = self._file(dirname(place), parent)
                if target is not None and target not in seen:
                    seen.add(target)
                    waiting.append(target)

    def _file(self, folder: str, name: str) -> str | None:
        """Return the file that `extends` or `references` means; packages in `node_modules` are not in the workspace."""
        path = resolve_path(folder, name) if name.startswith(".") else None
        if path is None:
            return None
        return self._files.first((path, path + ".json", join_path(path, "tsconfig.json")))


def _patterns(paths: Table, base: str, config: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found: list[tuple[str, tuple[str, ...]]] = []
    for pattern, targets in list(paths.items())[:MAX_PATTERNS]:
        places = [resolve_path(base, _expand_config_dir(target, config, base)) for target in as_texts(targets)]
        found.append((pattern, tuple(place for place in places if place is not None)))
    found.sort(key=lambda pair: ("*" in pair[0], -len(pair[0].partition("*")[0])))
    return tuple(found)


def _expand_config_dir(path: str, config: str, folder: str) -> str:
    """`${configDir}` is the folder of the configuration that was asked for, wherever the text stands."""
    if not path.startswith(_HERE):
        return path
    ups = "../" * (folder.count("/") + 1 if folder else 0)
    return ups + dirname(config) + path.removeprefix(_HERE)
