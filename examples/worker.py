"""A worker: tasks wait in a table, each is a recorded run, and one that was cut off goes on where it was."""

import asyncio
import sqlite3
import sys

from choose_model import choose_model

from toolroll import Agent, ScriptedModel, SqliteJournal, tool
from toolroll.models import Call
from toolroll.models.model import Model, ModelRequest


@tool(effect="reads")
def look_up(word: str) -> str:
    """Look a word up."""
    return f"{word}: a drink."


def script(request: ModelRequest) -> str | Call:
    """Call the tool once."""
    return Call("look_up", {"word": "tea"}) if len(request.messages) == 1 else "Tea is a drink."


def make_agent(model: Model | str) -> Agent[None]:
    """Make the agent that does the tasks."""
    return Agent(model=model, tools=[look_up], journal=SqliteJournal("runs.db"))


def open_tasks() -> sqlite3.Connection:
    """Open the table of tasks."""
    tasks = sqlite3.connect("tasks.db", isolation_level=None)
    tasks.execute("CREATE TABLE IF NOT EXISTS tasks (id TEXT PRIMARY KEY, prompt TEXT, answer TEXT)")
    return tasks


async def drain(agent: Agent[None], tasks: sqlite3.Connection) -> None:
    """Do all tasks that have no answer. The id of a task is that of its run: an answer is never paid twice."""
    journal = agent.setup.journal
    known: set[str] = {run.run_id for run in await journal.runs()} if journal else set()
    for task, prompt in tasks.execute("SELECT id, prompt FROM tasks WHERE answer IS NULL").fetchall():
        run = agent.start(resume=task) if task in known else agent.start(prompt, run_id=task)
        result = await run.wait()
        tasks.execute("UPDATE tasks SET answer = ? WHERE id = ?", [result.text, task])
        print(task, result.usage.requests, "requests:", result.text)


if __name__ == "__main__":
    tasks = open_tasks()
    if sys.argv[1:2] == ["add"]:
        tasks.execute("INSERT INTO tasks (id, prompt) VALUES (?, ?)", sys.argv[2:4])
    else:
        asyncio.run(drain(make_agent(choose_model(ScriptedModel(script))), tasks))
