"""Messages that wait for delivery: received, changed and taken back. None is lost, none is delivered twice."""

from __future__ import annotations

from perdure.contracts.ids import user_message_id
from perdure.contracts.messages import TextPart, UserMessage
from perdure.contracts.requests import Edit, Send
from perdure.contracts.state import State

REMEMBERED_KEYS = 1_000
"""How many senders' own keys a run remembers, to take a repeated message once."""


def known_message(state: State, client_key: str) -> str | None:
    """The id of the message that came with this sender's key before, or "" when only the key is remembered."""
    if not client_key or client_key not in state.client_keys:
        return None
    told = (*(message for message in state.messages if message.role == "user"), *state.inbox)
    return next((message.message_id for message in told if message.client_key == client_key), "")


def receive(state: State, order: Send) -> State:
    """The state with a further message that waits."""
    position = state.received + 1
    message = UserMessage(
        message_id=user_message_id(position),
        parts=(TextPart(text=order.message), *order.attachments),
        sender=order.actor,
        client_key=order.client_key,
        reply_to=order.reply_to,
    )
    keys = (*state.client_keys, order.client_key)[-REMEMBERED_KEYS:] if order.client_key else state.client_keys
    return state.model_copy(update={"inbox": (*state.inbox, message), "received": position, "client_keys": keys})


def edit(state: State, order: Edit) -> State:
    """The state with the text of a waiting message changed; its attachments stay."""

    def changed(message: UserMessage) -> UserMessage:
        if message.message_id != order.message_id:
            return message
        attachments = tuple(part for part in message.parts if part.kind != "text")
        return message.model_copy(update={"parts": (TextPart(text=order.message), *attachments)})

    return state.model_copy(update={"inbox": tuple(changed(message) for message in state.inbox)})


def withdraw(state: State, message_id: str) -> State:
    """The state without a waiting message."""
    return state.model_copy(
        update={"inbox": tuple(message for message in state.inbox if message.message_id != message_id)}
    )


def waits(state: State, message_id: str) -> bool:
    """Whether a message of that id waits for delivery."""
    return any(message.message_id == message_id for message in state.inbox)


def of_this_turn(state: State, message_id: str) -> bool:
    """Whether a user message of that id was delivered in the turn that runs."""
    if state.turn is None:
        return False
    delivered = state.messages[state.turn.first_message :]
    return any(message.role == "user" and message.message_id == message_id for message in delivered)
