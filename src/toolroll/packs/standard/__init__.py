"""The tools that every agent can use: `done`, `write_todos`, `read_todos`."""

from typing import Final

from toolroll.kernel.define.tool import Tool
from toolroll.packs.standard.done import done
from toolroll.packs.standard.todos import Todo, TodoList, read_todos, write_todos

TOOLS: Final[tuple[Tool, ...]] = (done, write_todos, read_todos)

__all__ = ["TOOLS", "Todo", "TodoList", "done", "read_todos", "write_todos"]
