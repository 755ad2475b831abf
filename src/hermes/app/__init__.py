"""The composition root: Config in, Runtime out, once.

choosing   who answers, by settings, keys and what runs on this machine
catalog    the models that servers list, loaded when somebody asks
key_hosts  where a stored key may go
web        who searches and who reads, by settings
services   what tools and web backends may use
mcp        the tools of MCP servers, and who agreed to them
dialogue   a conversation that is kept
pictures   pictures for a question, read from files
runtime    every part put together
api        the names that `import hermes` offers
"""

from hermes.app.dialogue import Dialogue, Terms
from hermes.app.runtime import Runtime

__all__ = ["Dialogue", "Runtime", "Terms"]
