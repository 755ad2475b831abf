"""MCP: the same tools and answers for clients of the Model Context Protocol."""

from hermes.server.endpoint import Endpoint
from hermes.server.mcp.http import closing, late

ENDPOINT = Endpoint(path="/mcp", app=late, lifespan=closing, described=False)
