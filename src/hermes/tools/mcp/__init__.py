"""The tools of MCP servers: each server that the settings name is a toolset of the agent.

listing      what a server offers
reading      ... made harmless
telling      ... shown to a person
pins         what a person has agreed to, kept
spec         a server as the settings name it
servers      a server as a toolset: its tools, and who is asked when they changed
connection   a live session with a server, through the SDK; loaded when a server is first needed
stdio        a server that is a program of this machine
results      what a call gave, as text
"""
