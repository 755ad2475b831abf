"""One file is one tool: a typed async function whose signature is its schema.

The file's `TOOL` is `tool(function, toolset=…)`. The first line of the function's docstring is what
the model reads, and parameters are described by `Annotated[type, Param("…")]`.
"""
