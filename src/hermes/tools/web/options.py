"""What the user has set for a backend: its options looked up, and what is missing said by name."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hermes.errors import ConfigError, NotConfigured
from hermes.protocols import Revealable
from hermes.tools.web.backends.base import Backend, Option, Services, Site
from hermes.tools.web.backends.base.declare import BASE_URL, KEY


def is_available(backend: Backend, services: Services) -> bool:
    """Whether it can serve unasked, by settings alone; the network is never touched."""
    if backend.is_ready is not None and not _says(backend.is_ready):
        return False
    offered = [option for option in backend.options if option.name in backend.offered_by]
    return not offered or any(given(option, services) is not None for option in offered)


def _says(is_ready: Callable[[], bool]) -> bool:
    try:
        return is_ready()
    except Exception:  # noqa: BLE001 - it may be another author's code, and who cannot say is not ready
        return False


def given(option: Option, services: Services) -> Any:
    """What the user set: in a variable, else in the settings; None when neither says anything."""
    look_up = services.secret if option.secret else services.setting
    found: Any = next(filter(None, map(look_up, option.env)), None)
    if found is None and option.setting:
        found = services.option(option.setting)
    return None if found in ("", None) else found


def site_of(backend: Backend, services: Services) -> Site:
    """The backend with everything that is set for it; raises `NotConfigured` for what it lacks."""
    values: dict[str, Any] = {}
    for option in backend.options:
        value = given(option, services)
        if value is None and option.required and not option.default:
            raise lack(backend, option)
        values[option.name] = option.default if value is None else value
    sent_to = str(values.get(backend.sent_to) or "")
    for place in _places_of_keys(backend, values, services) if sent_to else ():
        services.admit_key(place, sent_to, own_address(backend))
    key = _as_key(values.pop(KEY, None))
    base_url = _address(backend, str(values.pop(BASE_URL, "") or ""))
    return Site(base_url=base_url, key=key, options=values)


def own_address(backend: Backend) -> str:
    """Where the vendor is, if nobody says otherwise."""
    return next((str(option.default) for option in backend.options if option.name == BASE_URL), "")


def _places_of_keys(backend: Backend, values: Mapping[str, Any], services: Services) -> Iterator[str]:
    """The variables and the settings that its keys come from; a mapping of headers may hold many."""
    for option in backend.options:
        value = values[option.name]
        if _as_key(value) is not None:
            yield next(filter(services.setting, option.env), f"web.{option.setting}")
        for name, inner in value.items() if isinstance(value, Mapping) else ():
            if _as_key(inner) is not None:
                yield f"web.{option.setting}.{name}"


def describe(backend: Backend, services: Services) -> str:
    """What the backend is set to, without a key; empty where there is nothing to say."""
    if backend.connect is not None:
        return ""
    site = site_of(backend, services)
    if backend.describe is not None:
        return backend.describe(site)
    return f"Using {backend.title} at {site.base_url}" if site.base_url != own_address(backend) else ""


def lack(backend: Backend, option: Option) -> NotConfigured:
    """The error for an option that is needed and not there."""
    places = [*option.env, *((f"web.{option.setting}",) if option.setting else ())]
    named = " and ".join(f"`{place}`" for place in places) + (" are" if len(places) > 1 else " is")
    fix = f"run `hermes config set {places[0]}`" if places else None
    return NotConfigured(
        f"the web backend `{backend.name}` needs {option.what}: {named} not set",
        hint=f"{fix}, or get one at {option.url}" if fix and option.url else fix,
    )


def _address(backend: Backend, url: str) -> str:
    if url and not url.startswith(("http://", "https://")):
        raise ConfigError(
            f"the address of the web backend `{backend.name}` must start with `http://` or `https://`",
            hint="give it up to the path that its documentation names",
        )
    return url.rstrip("/")


def _as_key(value: Any) -> Revealable | None:
    return value if hasattr(value, "reveal") and value else None
