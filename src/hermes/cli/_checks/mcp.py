"""The MCP servers whose tools are offered: whether they can be reached, and are what was agreed to."""

from hermes.cli._checks import Found, Group, Scene, ok, warning


async def _mcp(scene: Scene) -> Found:
    servers = scene.runtime.mcp
    if servers is None:
        return ok("none: `mcp.servers` names those whose tools are offered")
    standings = await servers.standings(live=scene.online)
    return [
        (ok if standing.is_well else warning)(f"{standing.name}: {standing.detail}", standing.fix or None)
        for standing in standings
    ]


GROUP = Group(title="MCP", place=7, checks={"MCP servers": _mcp})
