"""How a tool is made from a function or a type, and what it is: signature, schema, wrappers, toolset."""
