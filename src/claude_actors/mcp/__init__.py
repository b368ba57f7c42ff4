"""In-process MCP servers: typed tools, raw handlers, and servers of the official `mcp` package."""
