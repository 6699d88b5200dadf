"""Explorations and posts. A judge cannot tell whether a text is good, but it can tell what is no text at all."""

import json
import re

from benchmarks.real_tasks.task import Half, Judge, Outcome, Task

MIN_DOCUMENT_WORDS = 120
MIN_POST_WORDS = 20
_CALL = re.compile(r'"(?:tool|name|function)"\s*:\s*"[a-z_]+"')
_MARKS = ("<post", "</post>", "<edit>", "<old>", '{"answer"', "The text of the post, exactly as")


def find_call(text: str) -> bool:
    """Return whether a text is a call, or has one in it."""
    try:
        value = json.loads(text.strip().strip("`").removeprefix("json"))
    except ValueError:
        return _CALL.search(text) is not None
    return isinstance(value, dict)


def judge_document(*topics: str) -> Judge:
    """Return a judge of a document: there is one, it has parts and words, names its topic, and holds no call."""

    def judge(outcome: Outcome) -> str:
        found = [text for path, text in outcome.new_files().items() if path.endswith("research.md")]
        if len(found) != 1:
            return f"there are {len(found)} documents"
        text = found[0]
        if find_call(text):
            return "the document holds a call"
        if len(text.split()) < MIN_DOCUMENT_WORDS:
            return f"the document has only {len(text.split())} words"
        if text.count("\n#") < 2:
            return "the document has no parts"
        missing = [topic for topic in topics if topic not in text.lower()]
        return f"the document does not speak of {', '.join(missing)}" if missing else ""

    return judge


def judge_post(*topics: str) -> Judge:
    """Return a judge of a post: one is saved, with words of its own about its topic, and nothing of the prompt."""

    def judge(outcome: Outcome) -> str:
        found = [text for path, text in outcome.new_files().items() if path.endswith(".md") and "posts" in path]
        if len(found) != 1:
            return f"{len(found)} posts were saved"
        body = found[0].rpartition("---\n")[2]
        if find_call(body) or any(mark in body for mark in _MARKS):
            return "the post holds a call, a mark or the prompt"
        if len(body.split()) < MIN_POST_WORDS:
            return f"the post has only {len(body.split())} words"
        if any(body.strip() in text for text in outcome.before.values()):
            return "the post is a copy of an example"
        missing = [topic for topic in topics if topic not in body.lower()]
        return f"the post does not speak of {', '.join(missing)}" if missing else ""

    return judge


def _explore(half: Half, idea: str, *topics: str) -> Task:
    return Task(name=idea, kind="explore", half=half, prompt=idea, judge=judge_document(*topics))


def _write(half: Half, request: str, *topics: str) -> Task:
    return Task(name=request, kind="write", half=half, prompt=request, judge=judge_post(*topics))


TEXTS = (
    _explore("first", "A library of things for every village", "librar"),
    _explore("first", "Bicycle lessons for grown-ups", "bicycle"),
    _explore("first", "A repair cafe on wheels", "repair"),
    _explore("second", "Shared freezers for allotment gardens", "freezer"),
    _explore("second", "A choir that meets by telephone", "choir"),
    _explore("second", "Old bus stops as book exchanges", "book"),
    _write("first", "post about our first year for LinkedIn", "year"),
    _write("first", "why our shop is closed on Mondays, for Instagram", "monday"),
    _write("first", "post about learning to say no at work for LinkedIn", "no"),
    _write("second", "post about our new bakery for LinkedIn", "bakery"),
    _write("second", "post about walking to work for Instagram", "walk"),
    _write("second", "post about hiring our first apprentice for LinkedIn", "apprentice"),
)
