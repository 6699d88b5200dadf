"""The conversation of a run, read from its record, to go on with in another run."""

from toolroll.agent.history.repair import Conversation
from toolroll.journal.journal import Recording
from toolroll.journal.records import CallEnded, MessageAdded, ModelTurn
from toolroll.kernel.data.messages import Message


def read_messages(recording: Recording) -> tuple[Message, ...]:
    """Return the conversation of a run, as it is recorded; calls without a result are marked."""
    conversation = Conversation()
    for _, record in recording:
        match record:
            case MessageAdded() | ModelTurn():
                conversation.append(record.message)
            case CallEnded():
                conversation.answer(record.result)
            case _:
                continue
    return tuple(conversation.legal())
