"""A provider's error reply, by status, headers and body, as one of our typed errors.

Vendors agree on nothing: the envelope is an object, a list, a string or a page; the code is a word, a number or
missing; an overload comes as a status, or inside a 200. So the body's own words decide first, then the status.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pydantic import JsonValue

from perdure.contracts.errors import (
    AuthenticationError,
    BadReplyError,
    BadRequestError,
    ContextTooLongError,
    OverloadedError,
    ProviderError,
    ProviderTimeoutError,
    QuotaError,
    RateLimitedError,
    RefusedError,
)
from perdure.contracts.failures import Attribution
from perdure.providers.lenient import a_list, a_text, a_word, an_object, loads
from perdure.providers.redaction import redacted, scrubbed
from perdure.providers.retry_after import retry_after

_BY_WORD: Mapping[str, type[ProviderError]] = {
    "context_length_exceeded": ContextTooLongError,
    "exceed_context_size_error": ContextTooLongError,
    "model_context_window_exceeded": ContextTooLongError,
    "1261": ContextTooLongError,
    "insufficient_quota": QuotaError,
    "billing_hard_limit_reached": QuotaError,
    "billing_not_active": QuotaError,
    "billing_error": QuotaError,
    "insufficient_balance": QuotaError,
    "exceeded_current_quota_error": QuotaError,
    "invalid_api_key": AuthenticationError,
    "API_KEY_INVALID": AuthenticationError,
    "authentication_error": AuthenticationError,
    "permission_error": AuthenticationError,
    "permission_denied": AuthenticationError,
    "rate_limit_exceeded": RateLimitedError,
    "rate_limit_error": RateLimitedError,
    "rate_limit_reached_error": RateLimitedError,
    "RESOURCE_EXHAUSTED": RateLimitedError,
    "overloaded_error": OverloadedError,
    "engine_overloaded_error": OverloadedError,
    "server_overloaded": OverloadedError,
    "UNAVAILABLE": OverloadedError,
    "timeout_error": ProviderTimeoutError,
    "content_filter": RefusedError,
    "content_policy_violation": RefusedError,
    "image_content_policy_violation": RefusedError,
    "invalid_prompt": RefusedError,
    "tool_use_failed": BadReplyError,
    "server_error": OverloadedError,
    "internal_server_error": OverloadedError,
    "api_error": OverloadedError,
    "model_not_found": BadRequestError,
    "invalid_image": BadRequestError,
    "invalid_image_format": BadRequestError,
    "invalid_image_url": BadRequestError,
    "invalid_base64_image": BadRequestError,
    "image_too_large": BadRequestError,
    "image_too_small": BadRequestError,
    "image_parse_error": BadRequestError,
    "failed_to_download_image": BadRequestError,
    "not_found_error": BadRequestError,
    "invalid_request_error": BadRequestError,
}
"""Words in an error's code, type or status that say what it is; the order is the order in which they are believed."""

_SHARED = frozenset({"invalid_request_error", "api_error", "server_error", "internal_server_error"})
"""Words that many errors share: they say less than the status beside them, where there is one."""

_BY_STATUS: Mapping[int, type[ProviderError]] = {
    401: AuthenticationError,
    402: QuotaError,
    403: AuthenticationError,
    408: ProviderTimeoutError,
    409: OverloadedError,
    413: ContextTooLongError,
    425: OverloadedError,
    429: RateLimitedError,
    501: BadRequestError,
    504: ProviderTimeoutError,
    524: ProviderTimeoutError,
}

# No vendor has a code for every overflow. The phrases are whole ones: "max_tokens must be <= 4096" is no overflow.
_OVERFLOW = re.compile(
    r"maximum context length|context (?:length|window|size) (?:is |was )?exceeded|exceeds? the (?:model's )?context"
    r"|exceeds? the available context size|prompt is too long|input is too long for|prompt exceeds max length"
    r"|exceeds the maximum number of tokens allowed|token limit reached|reduce the length of the messages"
    r"|too large for model .* context",
    re.IGNORECASE,
)

# Anthropic calls an empty account a bad request.
_PENNILESS = re.compile(r"credit balance is too low|reached your specified api usage limits", re.IGNORECASE)

# llama.cpp answers a picture for a model without eyes with a 500; asking again would not open them.
_UNABLE = re.compile(r"input is not supported", re.IGNORECASE)

_CODE = re.compile(r"[\w.: -]{1,64}")
_PAGE = re.compile(r"<(?:!doctype|html|head|body)\b", re.IGNORECASE)

REQUEST_ID_HEADERS = (
    "x-request-id",
    "request-id",
    "apim-request-id",
    "x-groq-request-id",
    "mistral-correlation-id",
    "x-ds-trace-id",
    "x-amzn-requestid",
    "cf-ray",
)


@dataclass(frozen=True, slots=True)
class Complaint:
    """What an error reply says, whatever its envelope was."""

    message: str = ""
    words: tuple[str, ...] = ()
    code: str = ""
    status: int | None = None
    param: str = ""
    details: tuple[JsonValue, ...] = ()
    request_id: str = ""


def request_id_of(headers: Mapping[str, str], secrets: tuple[str, ...] = ()) -> str:
    """The provider's id of the request, by any of the names in use, without ``secrets``; "" when there is none."""
    return scrubbed(next((value for name in REQUEST_ID_HEADERS if (value := headers.get(name))), ""), secrets)[:100]


def fault(
    provider: str,
    body: bytes | JsonValue,
    *,
    status: int | None = None,
    headers: Mapping[str, str] | None = None,
    secrets: tuple[str, ...] = (),
    key_told: str = "",
) -> ProviderError:
    """The typed error that a reply stands for.

    ``body`` is the reply's body, or the JSON value of an error that came inside a stream. ``secrets`` never appear in
    the error, nor does any long run of base64. ``key_told`` is added where the key was refused.
    """
    headers = headers or {}
    complaint = read_complaint(redacted(body, secrets))
    status = status if status is not None and status >= 300 else complaint.status
    chosen = _kind(complaint, status)
    detail = complaint.message or _unsaid(status)
    if complaint.param and complaint.param not in detail:
        detail = f"{detail} (parameter {complaint.param})"
    if key_told and chosen is AuthenticationError:
        detail = f"{detail.rstrip('. ')}. {key_told}"
    error = chosen(
        provider,
        scrubbed(detail, secrets),
        status=status,
        code=complaint.code if _CODE.fullmatch(scrubbed(complaint.code, secrets)) else "",
        request_id=request_id_of(headers, secrets) or complaint.request_id,
        retry_after=retry_after(headers, complaint.details),
    )
    error.attribution = _blame(error, status)
    match headers.get("x-should-retry"):
        case "true":
            error.retryable = True
        case "false":
            error.retryable = False
        case _:
            pass
    return error


def read_complaint(body: bytes | JsonValue) -> Complaint:
    """Read an error out of any of the envelopes in use: JSON object, list, string, plain text, page, or nothing."""
    value: JsonValue
    if isinstance(body, bytes):
        text = body.decode("utf-8", "replace").strip()
        try:
            value = loads(text)
        except ValueError:
            return Complaint(message="" if _PAGE.search(text) else text[:1000])
    else:
        value = body
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, str):
        return Complaint(message=value[:1000])
    outer = an_object(value)
    inner = outer.get("error")
    if isinstance(inner, str) and inner:
        try:
            inner = an_object(loads(inner)) or {**outer, "message": inner}
        except ValueError:
            inner = {**outer, "message": inner}
    complaint = _from_object(an_object(inner) or outer)
    return replace(complaint, request_id=a_text(outer.get("request_id"))[:100])


def _from_object(error: dict[str, JsonValue]) -> Complaint:
    metadata = an_object(error.get("metadata"))
    message = _sentence(error)
    upstream = a_text(metadata.get("raw"))
    if upstream and upstream not in message:
        message = f"{message}: {upstream[:500]}" if message else upstream[:500]
    number = next(
        (int(word) for key in ("status_code", "code", "status") if (word := a_word(error.get(key))).isdecimal()), None
    )
    words = _words(error)
    return Complaint(
        message=message[:1000],
        words=words,
        code=next((word for word in words if not word.isdecimal() or word in _BY_WORD), ""),
        status=number if number is not None and 300 <= number < 600 else None,
        param=a_word(error.get("param")),
        details=tuple(a_list(error.get("details"))),
    )


def _sentence(error: dict[str, JsonValue]) -> str:
    for key in ("message", "detail", "msg", "errors", "title"):
        value = error.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, dict) and (nested := _sentence(value)):
            return nested
        if isinstance(value, list) and value:
            said = [item if isinstance(item, str) else _sentence(an_object(item)) for item in value]
            return "; ".join(sentence for sentence in said if sentence)
    return ""


def _words(error: dict[str, JsonValue]) -> tuple[str, ...]:
    inner = an_object(error.get("innererror"))
    reasons = [an_object(detail).get("reason") for detail in a_list(error.get("details"))]
    found = (error.get("code"), inner.get("code"), error.get("type"), error.get("status"), *reasons)
    return tuple(word for value in found if (word := a_word(value)))


def _kind(complaint: Complaint, status: int | None) -> type[ProviderError]:
    if status == 413 or (status in (None, 400, 422, 500) and _OVERFLOW.search(complaint.message)):
        return ContextTooLongError
    if _PENNILESS.search(complaint.message):
        return QuotaError
    if status == 500 and _UNABLE.search(complaint.message):
        return BadRequestError
    if status is not None and status in (401, 402):
        return _BY_STATUS[status]
    if status == 403 and "flagged" in complaint.message.lower():
        return RefusedError
    for word, error in _BY_WORD.items():
        if word in complaint.words and not (word in _SHARED and status is not None):
            return error
    if status is None:
        return BadReplyError
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    return OverloadedError if status >= 500 else BadRequestError


def _blame(error: ProviderError, status: int | None) -> Attribution:
    # A model that is not there is a 404 in one protocol of a vendor and a 400 in the other.
    misnamed = status in (404, 301, 302, 307, 308) or error.code == "model_not_found"
    return "operator" if isinstance(error, BadRequestError) and misnamed else error.attribution


def _unsaid(status: int | None) -> str:
    if status is None:
        return "the provider reports an error and does not say which"
    if status < 400:
        return "the address answers with a redirect; set base_url to where it leads"
    return "the provider gives no reason"
