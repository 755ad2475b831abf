"""The engine of middleware and observers: what plugins registered, and the order they run in.

Pure: no files, no sockets, no globals. A host is made by whoever runs an agent, and given callbacks.

names         the kinds of middleware and the hooks, and the words of their contract
registration  what a plugin asks for: a callback, and on what terms
host          the front: everything else is loaded when a callback is added
callee        a registered callback, ready to be called: its arguments, its health, its accounts
order         who comes before whom
copying       payloads handed out so that nobody can spoil them
requests      callbacks that rewrite what is about to be done
execution     callbacks that wrap the doing
frame         one of those around one call: its way on, its time, what its outcome comes to
observers     callbacks that are told
sequence      callbacks called one after the other
stream        callbacks that see an answer piece by piece
watch         the time a callback takes by itself, and its end
threads       a stay in a worker thread, and the way back to the loop
workers       the threads
"""

from hermes.errors import Block
from hermes.hooks.host import Heard, HookHost, Mode, Rewritten
from hermes.hooks.names import HOOKS, MIDDLEWARE
from hermes.hooks.registration import Breaker, Options, Registration

__all__ = [
    "HOOKS",
    "MIDDLEWARE",
    "Block",
    "Breaker",
    "Heard",
    "HookHost",
    "Mode",
    "Options",
    "Registration",
    "Rewritten",
]
