"""Files and environment in, one frozen Config out; secrets never print.

secret        a value that shows as stars, and the filter that takes such values out of text
settings      Config and its sections
keys          every key a person can set, derived from the sections' fields
environment   the process environment with `.env` behind it
tree          config.yaml as values with lines; reads plain files without the YAML library
yaml_events   the full YAML reader, loaded when a file is not plain
loading       `load`: one Config from four sources
edit          `set_value`, `set_secret`: one change to a file, the rest byte for byte as it was
yaml_edit     where in a YAML text a change goes
files         bounded reads, atomic writes
"""

from hermes.config.environment import Environment
from hermes.config.loading import load
from hermes.config.secret import Redactor, Secret
from hermes.config.settings import AgentSettings, Config, ModelSettings, Origin, WebSettings

__all__ = [
    "AgentSettings",
    "Config",
    "Environment",
    "ModelSettings",
    "Origin",
    "Redactor",
    "Secret",
    "WebSettings",
    "load",
]
