"""Files and environment in, one frozen Config out; secrets never print.

secret        a value that shows as stars, and the filter that takes such values out of text
settings      Config and its sections
keys          every key a person can set, derived from the sections' fields
environment   the process environment with `.env` behind it
tree          config.yaml as values with lines
yaml_events   the YAML reader behind it, imported only when there is a file
loading       `load`: one Config from four sources
edit          `set_value`, `set_secret`, `update`: one change to a file, proved by reading it back
yaml_edit     the change itself, by ruamel's round trip
files         bounded reads, atomic writes
"""

from hermes.config.environment import Environment
from hermes.config.loading import load
from hermes.config.secret import Redactor, Secret
from hermes.config.settings import (
    AgentSettings,
    Config,
    McpServer,
    ModelSettings,
    Origin,
    PluginEntry,
    PluginSettings,
    WebSettings,
    XSearchSettings,
)

__all__ = [
    "AgentSettings",
    "Config",
    "Environment",
    "McpServer",
    "ModelSettings",
    "Origin",
    "PluginEntry",
    "PluginSettings",
    "Redactor",
    "Secret",
    "WebSettings",
    "XSearchSettings",
    "load",
]
