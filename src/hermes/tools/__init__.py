"""One file is one tool: a typed async function whose signature is its schema.

The file's `TOOL` is `tool(function, toolset=…)`. The first line of the function's docstring is what
the model reads, and parameters are described by `Annotated[type, Param("…")]`.

base        what a tool is
arguments   arguments made to fit
toolbox     the tools of one run
consent     asking a person
places      which paths need that
files       what the file tools share
web         what the web tools share
"""
