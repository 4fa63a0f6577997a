"""What every maker needs: a connection to one provider, replies that come whole, and what they cost."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from perdure.contracts.errors import BadReplyError
from perdure.contracts.usage import Cost, Usage
from perdure.providers.http import Http, Reply
from perdure.providers.lenient import Json, an_object
from perdure.providers.own_prices import Price, own_cost
from perdure.providers.payloads import value_of
from perdure.providers.prices import cost_of


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file of a form."""

    field: str
    name: str
    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Workshop:
    """One provider, as its makers use it."""

    provider: str
    http: Http
    prices: Mapping[str, Price] = field(default_factory=dict)

    async def ask(self, path: str, payload: Mapping[str, JsonValue]) -> Json:
        """The JSON object that answers ``payload``. Raises ProviderError."""
        return await self._object(path, payload, {})

    async def submit(self, path: str, fields: Mapping[str, str], files: tuple[Attachment, ...]) -> Json:
        """The JSON object that answers a form with files. Raises ProviderError."""
        boundary = f"perdure-{secrets.token_hex(16)}"
        headers = {"content-type": f"multipart/form-data; boundary={boundary}"}
        return await self._object(path, form(fields, files, boundary), headers)

    async def fetch(self, path: str, payload: Mapping[str, JsonValue]) -> bytes:
        """The bytes that answer ``payload``. Raises ProviderError, also when they are an error or none."""
        async with self.http.post(path, payload) as reply:
            body = await reply.read()
            if not body:
                raise reply.bad("the answer is empty")
            kind = reply.response.headers.get("content-type", "")
            if "json" in kind or kind.startswith("text/"):
                _answer(reply, body)
                raise reply.bad("the answer is text, not what was asked for")
            return body

    def cost(self, model: str, usage: Usage | None) -> Cost:
        """What ``usage`` costs; unpriced when the provider never said what was used."""
        own = own_cost(model, usage, self.prices) if usage is not None else None
        return own or cost_of(model, usage)

    def bad(self, detail: str) -> BadReplyError:
        """The error for a reply that cannot be used."""
        return BadReplyError(self.provider, detail)

    async def _object(self, path: str, payload: Mapping[str, JsonValue] | bytes, headers: Mapping[str, str]) -> Json:
        async with self.http.post(path, payload, headers=headers) as reply:
            return _answer(reply, await reply.read())


def form(fields: Mapping[str, str], files: tuple[Attachment, ...], boundary: str) -> bytes:
    """A form as its protocol writes it (RFC 7578). What would end a line or a name is taken out of names."""
    written = bytearray()
    for name, value in fields.items():
        written += f'--{boundary}\r\ncontent-disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
    for file in files:
        shown = "".join(letter for letter in file.name if letter.isprintable() and letter not in '"\\') or "file"
        kind = "".join(letter for letter in file.media_type if letter.isprintable())
        head = f'--{boundary}\r\ncontent-disposition: form-data; name="{file.field}"; filename="{shown}"\r\n'
        written += f"{head}content-type: {kind}\r\n\r\n".encode() + file.data + b"\r\n"
    return bytes(written) + f"--{boundary}--\r\n".encode()


def _answer(reply: Reply, body: bytes) -> Json:
    """The object that ``body`` is. Raises the ProviderError that it stands for; for anything else BadReplyError, which
    quotes nothing."""
    answer = value_of(reply, body)
    said = an_object(answer.first)
    if said.get("error") or said.get("object") == "error":
        raise reply.fault(answer.first)
    if not isinstance(answer.value, dict):
        raise reply.astray("no JSON object")
    return answer.value
