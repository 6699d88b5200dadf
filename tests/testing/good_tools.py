"""Tools that there is nothing to say against; none of them may run. In a module of their own: it is imported again in
other processes, and pytest is slow to import.
"""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from enum import Enum
from ipaddress import IPv4Address
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from toolroll import define_tool, tool


class Colour(Enum):
    RED = "red"
    FOUR = 4


class Branch(BaseModel):
    name: str
    children: list["Branch"] = []
    next: "Branch | None" = None


class Address(BaseModel):
    city: str
    street: str | None = None


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: Annotated[int, Field(ge=1, le=9)] = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    tags: set[str] = set()


@dataclass
class Order:
    colour: Colour
    pets: list[Annotated[Cat | Dog, Field(discriminator="kind")]]
    favourite: Annotated[Cat | Dog, Field(description="The best one")] | None = None


def never(*_: object) -> str:
    raise AssertionError("check_tool ran the tool")


@tool
def times(day: date, at: datetime, hour: time, takes: timedelta, uuid: UUID, ip: IPv4Address, file: Path) -> str:
    """Every kind of text that means something else."""
    return never()


@tool
def numbers(n: int, x: float, low: Annotated[int, Field(ge=3, multiple_of=5)] = 5, y: float | None = None) -> str:
    """Numbers."""
    return never()


@tool
def texts(slug: Annotated[str, Field(pattern="^[a-z]+$", max_length=9)], kind: Literal["a", "b"] = "a") -> str:
    """Texts."""
    return never()


@tool
def tree(root: Branch) -> str:
    """A tree."""
    return never()


@tool
def maps(of: dict[str, int], free: dict[str, Any], pair: tuple[int, str] = (1, "a"), some: list[Any] = []) -> str:  # noqa: B006 - a default for the schema
    """Maps and tuples."""
    return never()


@tool
def addresses(
    home: Annotated[Address, Field(description="Where they live")],
    work: Annotated[Address | None, Field(description="Where they work")] = None,
) -> str:
    """Two of a kind."""
    return never()


@tool(effect="writes")
def nothing() -> str:
    """Nothing at all."""
    return never()


order = define_tool(name="order", description="Order.", input=Order, execute=never)
