"""Hermes as an MCP server: the web tools and a whole answer, for any MCP client.

offering   the tools: those of the agent, and `ask`
ask        the tool `ask`: a question answered by the agent
telling    what happens in a run, in a line each
pages      the pages that were read, as resources
protocol   all of it in the words of MCP, through the SDK
stdio      one client, on standard input and output
http       many clients, at a path of the server
sessions   ... as the SDK keeps them
"""
