"""One call of a tool, and all calls of a step: context, execution, events, result."""
