"""One Config from four sources: a flag wins over the environment, `.env`, the file and the default."""

import os
import pwd
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from hermes.config import files, keys, tree
from hermes.config.environment import Environment, read_environment
from hermes.config.keys import Key
from hermes.config.settings import OPEN_SECTIONS, SECTIONS, Config, Origin
from hermes.errors import ConfigError, UnknownName

Setting = tuple[object, Origin]
_WRITABLE_BY_OTHERS = 0o022


def load(environ: Mapping[str, str], flags: Mapping[str, object] | None = None) -> Config:
    """Read every source once. Raises `ConfigError` for what cannot be understood, warns of the rest."""
    home = find_home(environ)
    environment, warnings = read_environment(environ, home)
    warnings += _open_folder(home)
    in_file, options, complaints = _read_file(config_path(home))
    given = {keys.find(path).path: value for path, value in (flags or {}).items() if not _absent(value)}
    chosen = {path: _choose(key, given, environment, in_file) for path, key in keys.KEYS.items()}
    return Config(
        home=home,
        environment=environment,
        options=options,
        warnings=(*warnings, *complaints),
        origins=MappingProxyType({path: origin for path, (_, origin) in chosen.items()}),
        **{section: _settings(section, chosen) for section in SECTIONS},
    )


def find_home(environ: Mapping[str, str]) -> str:
    """The folder of our files: `HERMES_HOME`, else `.hermes` in the user's home."""
    home = environ.get("HERMES_HOME", "").strip() or "~/.hermes"
    start, slash, rest = home.partition("/")
    if start == "~":
        home = _user_home(environ) + slash + rest
    return os.path.abspath(os.path.expanduser(home))


def _user_home(environ: Mapping[str, str]) -> str:
    if home := environ.get("HOME", "").strip():
        return home
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        message = "no home directory: `HOME` is not set and this user has no entry in the password file"
        raise ConfigError(message, hint="set `HERMES_HOME` to a folder for settings and sessions") from None


def config_path(home: str) -> str:
    return os.path.join(home, "config.yaml")


def _absent(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _choose(
    key: Key, flags: Mapping[str, object], environment: Environment, in_file: Mapping[str, Setting]
) -> Setting:
    if key.path in flags:
        return key.parse_given(flags[key.path], f"`{key.path}`"), Origin("flag", key.path)
    text = environment.lookup(key.variable)
    if text is not None:
        source = environment.origin(key.variable)
        where = f"`{key.variable}`" if source == "environment" else f"`{key.variable}` in `.env`"
        return key.parse_given(text, where), Origin(source or "environment", key.variable)
    return in_file.get(key.path, (key.default, Origin("default")))


def _settings(section: str, chosen: Mapping[str, Setting]) -> Any:
    names = SECTIONS[section].__struct_fields__
    return SECTIONS[section](**{name: chosen[f"{section}.{name}"][0] for name in names})


def _open_folder(home: str) -> list[str]:
    try:
        mode = os.stat(home).st_mode & 0o7777
    except OSError:
        return []
    if not mode & _WRITABLE_BY_OTHERS:
        return []
    return [f"`{home}` can be changed by other users (mode {mode:04o}); run `chmod 700 {home}`"]


def _read_file(path: str) -> tuple[dict[str, Setting], dict[str, Any], list[str]]:
    found = files.read(path)
    if found is None:
        return {}, {}, []
    settings: dict[str, Setting] = {}
    options: dict[str, Any] = {}
    warnings: list[str] = []
    for name, node in tree.read(found.text, path).items():
        key = keys.KEYS.get(name)
        place = f"{path}:{node.line}"
        if key is None and isinstance(node.value, dict) and name.partition(".")[0] in OPEN_SECTIONS:
            options[name] = keys.options(node.bare(), name)
        elif key is None:
            known = keys.KEYS if "." in name else SECTIONS
            warnings.append(f"{place}: unknown key `{name}`; {UnknownName('key', name, known).hint}")
        elif not _absent(node.value):
            value = key.parse(node.bare(), f"{place}: `{name}`")
            settings[name] = (value, Origin("file", place))
            if key.holds_secret(value) and found.mode & files.OTHERS:
                warnings.append(
                    f"`{path}` holds `{name}` and is open to other users (mode {found.mode:04o}); "
                    f"run `chmod 600 {path}`"
                )
    return settings, options, warnings
