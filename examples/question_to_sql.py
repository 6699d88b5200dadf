"""SQL from a question: each query is tried in the database, and a bad one goes back to the model with the error."""

import sqlite3
from collections.abc import Iterator
from typing import Annotated

from choose_model import choose_model
from pydantic import BaseModel, Field

from toolroll import Agent, Depends, ScriptedModel, ToolFailure

SCHEMA = "CREATE TABLE records (time TEXT, level TEXT, message TEXT)"


class Query(BaseModel):
    """A query that answers the question."""

    sql: Annotated[str, Field(description="One SELECT statement.")]
    explanation: str


class NoAnswer(BaseModel):
    """The tables cannot answer the question."""

    reason: str


def database() -> Iterator[sqlite3.Connection]:
    """Open the database for a run; nothing can be changed in it."""
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.execute(SCHEMA)
    connection.execute("PRAGMA query_only = ON")
    yield connection
    connection.close()


def runs_in_database(
    answer: Query | NoAnswer, db: Annotated[sqlite3.Connection, Depends(database)]
) -> Query | NoAnswer:
    """Let the database plan the query; it knows the columns."""
    if isinstance(answer, Query):
        try:
            db.execute(f"EXPLAIN QUERY PLAN {answer.sql}")
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise ToolFailure(f"The database says: {error}. Write another query.") from error
    return answer


replies = ["SELECT text FROM records WHERE level = 'error'", "SELECT message FROM records WHERE level = 'error'"]
agent = Agent(
    model=choose_model(ScriptedModel([Query(sql=one, explanation="Errors.").model_dump_json() for one in replies])),
    output=(Query, NoAnswer),
    output_validators=[runs_in_database],
    system=f"Write SQLite queries for this schema: {SCHEMA}",
)

if __name__ == "__main__":
    print(agent.run_sync("Show me the errors.").output)
