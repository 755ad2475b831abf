"""One file is one tool: a typed async function whose signature is its schema.

The file's `TOOL` is `tool(function, toolset=…)`. The first line of the function's docstring is what
the model reads, and parameters are described by `Annotated[type, Param("…")]`.

base        what a tool is
arguments   arguments made to fit
toolbox     the tools of one run
places      which paths need a person's consent
files       what the file tools share
web         what the web tools share
"""
