"""What humans are to be told of a change: requests and questions that opened, are due soon, or closed."""

from __future__ import annotations

from typing import Literal

from perdure.contracts.instructions import AskHumans
from perdure.contracts.state import State


def notices(before: State, after: State) -> tuple[AskHumans, ...]:
    """One instruction for each stage that something came to, by comparing two states."""
    found = []
    for stage in ("opened", "due", "closed"):
        notice = _notice(stage, before, after)
        if notice.requests or notice.questions:
            found.append(notice)
    return tuple(found)


def _notice(stage: Literal["opened", "due", "closed"], before: State, after: State) -> AskHumans:
    old_requests = {request.request_id: request for request in before.requests}
    new_requests = {request.request_id: request for request in after.requests}
    old_questions = {question.question_id: question for question in before.questions}
    new_questions = {question.question_id: question for question in after.questions}
    match stage:
        case "opened":
            return AskHumans(
                stage=stage,
                requests=tuple(item for key, item in new_requests.items() if key not in old_requests),
                questions=tuple(item for key, item in new_questions.items() if key not in old_questions),
            )
        case "due":
            return AskHumans(
                stage=stage,
                requests=tuple(
                    item
                    for key, item in new_requests.items()
                    if item.reminded and key in old_requests and not old_requests[key].reminded
                ),
                questions=tuple(
                    item
                    for key, item in new_questions.items()
                    if item.reminded and key in old_questions and not old_questions[key].reminded
                ),
            )
        case "closed":
            return AskHumans(
                stage=stage,
                requests=tuple(item for key, item in old_requests.items() if key not in new_requests),
                questions=tuple(item for key, item in old_questions.items() if key not in new_questions),
            )
