"""Files of ideas: what is wrong with one is told with its line, before anything is queued (R31)."""

import io

import pytest

from toolroll.cli.actions.queue import read_ideas
from toolroll.errors import UsageError


class Named(io.BytesIO):
    def __init__(self, name: str, text: str) -> None:
        super().__init__(text.encode())
        self.name = name


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.csv", 'idea,mode\n"Tea\nfor two",\nCoffee,now,too\n', "'a.csv', line 4: it has more columns"),
        ("a.csv", "thing\nTea\n", "'a.csv', line 1: no column is named 'idea'"),
        ("a.csv", 'idea\nTea\n"Tea\nfor two"x\n', "'a.csv', line 3: "),
        ("a.csv", "idea,mode\nTea,\n,quick\n", "'a.csv', line 3: idea: Field required"),
        ("a.jsonl", '{"idea": "a"}\n\n{"ide": "b"}\n', "'a.jsonl', line 3: idea: Field required"),
        ("a.jsonl", '{"idea": "a"}\nnonsense\n', "'a.jsonl', line 2: "),
        ("a.txt", "\n\n", "'a.txt' has no ideas"),
    ],
)
def test_R31_an_error_in_a_file_of_ideas_names_its_line(name: str, text: str, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_ideas(Named(name, text))
    assert caught.value.message.startswith(told)


def test_R31_ideas_are_read_with_where_they_stand() -> None:
    found = read_ideas(Named("a.csv", 'idea,context\n"Tea\nfor two",hot\nCoffee,\n'))
    assert [(place, line.idea, line.context) for place, line in found] == [
        ("'a.csv', line 2", "Tea\nfor two", "hot"),
        ("'a.csv', line 4", "Coffee", None),
    ]
