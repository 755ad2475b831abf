"""What stands behind the provider files.

registry   every provider by name, wherever its file lies
resolve    a name and some settings become an endpoint with its key
listing    what a server says of its models
address    whose an address is
"""

from hermes.providers.base import address
from hermes.providers.base.registry import Registry
from hermes.providers.base.resolve import Choice, Keys, LocalServer, Preferences, Resolver

__all__ = ["Choice", "Keys", "LocalServer", "Preferences", "Registry", "Resolver", "address"]
