"""A harness for who writes a plugin: it runs without a model, without a network, without a person.

harness   a plugin, loaded, and calls of tools and models to put it through
scene     one call, from its beginning to its end
contract  the rules of the contract, and every callback held against them
samples   payloads as Hermes makes them
"""

from hermes.plugins.testing.contract import ContractBroken
from hermes.plugins.testing.harness import Harness
from hermes.plugins.testing.scene import LlmRun, ToolRun

__all__ = ["ContractBroken", "Harness", "LlmRun", "ToolRun"]
