"""Customer service with three agents that hand over: a desk, one for bookings, one for questions."""

from choose_model import choose_model

from toolroll import Agent, ScriptedModel, tool
from toolroll.agent.subagent import words_only
from toolroll.models import Call

SEATS = {"LH123": "12A"}


@tool
def change_seat(booking: str, seat: str) -> str:
    """Change the seat of a booking."""
    SEATS[booking] = seat
    return f"Booking {booking} has seat {seat} now."


@tool
def look_up(question: str) -> str:
    """Find the answer to a common question."""
    return "One bag of up to 23 kg is free." if "bag" in question else "There is no answer to that."


bookings = Agent(
    model=choose_model(ScriptedModel([Call("change_seat", {"booking": "LH123", "seat": "3C"}), "You sit in 3C now."])),
    tools=[change_seat],
    system="You change seats. Ask for the booking if you do not know it.",
)
questions = Agent(
    model=choose_model(ScriptedModel([Call("look_up", {"question": "bags"}), "One bag is free."])),
    tools=[look_up],
    system="You answer common questions, only by what look_up returns.",
)
desk = Agent(
    model=choose_model(ScriptedModel([Call("to_bookings"), Call("to_questions")])),
    tools=[
        bookings.as_handoff(name="to_bookings", description="Hand over to who changes bookings."),
        questions.as_handoff(name="to_questions", description="Hand over to who answers questions.", sees=words_only),
    ],
    system="You hand each customer over to the right agent.",
)

if __name__ == "__main__":
    first = desk.run_sync("I want to sit in 3C. My booking is LH123.")
    second = desk.run_sync("And how many bags can I take?", messages=first.messages)
    print(first.text, second.text)
