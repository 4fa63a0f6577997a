"""Names that stand in histories. Renaming a Python symbol must not break a run, so each is written here, once."""

from __future__ import annotations

AGENT_RUN = "AgentRun"
GRANT_BOOK = "GrantBook"
GRANTS_QUEUE = "perdure-grants"

RESOLVE_AGENT = "resolve_agent"
CALL_MODEL = "call_model"
AUTHORIZE = "authorize"
RECALL = "recall"
REMEMBER_GRANT = "remember_grant"
NOTIFY = "notify"
GENERATE_OBJECT = "generate_object"
EMBED = "embed"
GENERATE_IMAGE = "generate_image"
GENERATE_SPEECH = "generate_speech"
TRANSCRIBE = "transcribe"
GENERATE_VIDEO = "generate_video"
GENERATING = (GENERATE_OBJECT, EMBED, GENERATE_IMAGE, GENERATE_SPEECH, TRANSCRIBE, GENERATE_VIDEO)
RESERVED_ACTIVITIES = frozenset({RESOLVE_AGENT, CALL_MODEL, AUTHORIZE, RECALL, REMEMBER_GRANT, NOTIFY, *GENERATING})

# Updates and their signal twins share a name: the update answers with a receipt, the signal is sent and forgotten.
SEND = "send"
EDIT = "edit"
WITHDRAW = "withdraw"
APPROVE = "approve"
DENY = "deny"
ANSWER = "answer"
REVOKE = "revoke"
INTERRUPT = "interrupt"
CLOSE = "close"

SUMMARY = "summary"
TRANSCRIPT = "transcript"
OPEN_REQUESTS = "open_requests"

# Of a grant book; it takes `revoke` too.
GRANT = "grant"
GRANTS = "grants"

ASK_HUMAN = "ask_human"
DEFAULT_AGENT = "assistant"
DEFAULT_TASK_QUEUE = "perdure"

STATUS_ATTRIBUTE = "PerdureStatus"
AGENT_ATTRIBUTE = "PerdureAgent"
USER_ATTRIBUTE = "PerdureUser"
SEARCH_ATTRIBUTES = (STATUS_ATTRIBUTE, AGENT_ATTRIBUTE, USER_ATTRIBUTE)
