"""What all adapters do alike: a request is admitted and sent, and the pieces of its reply are given as ours.

A protocol adds how a request is written (its encoding) and how a reply is read (its decoder).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar, Protocol

from perdure.contracts.prompts import ModelRequest
from perdure.providers.admission import Admission
from perdure.providers.completion import CUT, whole
from perdure.providers.dialects import Dialect
from perdure.providers.hosted_tools import Keys
from perdure.providers.http import Reply
from perdure.providers.lenient import Json
from perdure.providers.own_prices import own_cost
from perdure.providers.payloads import Payload, payloads
from perdure.providers.service import Service
from perdure.providers.stream import CallPiece, Piece, UsagePiece
from perdure.providers.tool_names import ToolNames, tool_names


class Decoder(Protocol):
    """Decodes one reply: it is fed every value, then asked for the end."""

    @property
    def finished(self) -> bool:
        """Whether the provider has said that the reply is whole."""
        ...

    @property
    def patience(self) -> float | None:
        """How long the next piece of the reply may take; see `payloads`."""
        ...

    def feed(self, payload: Payload) -> Iterator[Piece]:
        """The pieces in one value. Raises the ProviderError that the value stands for, if it is one."""
        ...

    def end(self) -> Iterator[Piece]:
        """What the end of the reply settles."""
        ...


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it may be sent, in its server's dialect, with the tool names and the keys that go along."""

    request: ModelRequest
    dialect: Dialect
    names: ToolNames
    keys: Keys


class Adapter(ABC):
    """One server's models, by one protocol. Connections are kept between calls; `close` ends them."""

    headers: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """The protocol's own, sent with every request."""

    letter_first: ClassVar[bool] = False
    """Whether the protocol wants the names of tools to begin with a letter."""

    def __init__(self, service: Service) -> None:
        """Raises InvalidSettingsError as `Http` does."""
        self.name = service.name
        self.origin = service.origin
        self._prices = service.settings.prices
        self._admission = Admission(service)
        self._http = service.connect(self.headers)

    def stream(self, request: ModelRequest, *, attempt: int = 1) -> AsyncGenerator[Piece, None]:
        """The answer, piece by piece; see `Provider.stream`."""
        return whole(self.name, self._pieces(request))

    async def close(self) -> None:
        """End the kept connections."""
        await self._http.close()

    @abstractmethod
    def _answer(self, asked: Asked) -> AsyncGenerator[Piece, None]:
        """The pieces of the answer, with tool names as the server knows them."""

    async def _exchange(
        self,
        asked: Asked,
        path: str,
        body: Json,
        decoder: Callable[[Reply], Decoder],
        headers: Mapping[str, str] | None = None,
    ) -> AsyncGenerator[Piece, None]:
        """Send one request, and give the pieces of its reply."""
        async with (
            self._http.post(path, body, headers=headers, secrets=tuple(asked.keys.values())) as reply,
            aclosing(decoded(reply, decoder(reply))) as pieces,
        ):
            async for piece in pieces:
                yield piece

    async def _pieces(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        request = self._admission.admit(request)
        keys = self._admission.server_keys(request.hosted)
        names = tool_names(request, letter_first=self.letter_first)
        asked = Asked(request, self._admission.dialect(request.model), names, keys)
        async with aclosing(self._answer(asked)) as pieces:
            async for piece in pieces:
                match piece:
                    case CallPiece():
                        yield replace(piece, name=names.ours(piece.name))
                    case UsagePiece():
                        yield self._priced(piece, request.model)
                    case _:
                        yield piece

    def _priced(self, piece: UsagePiece, model: str) -> UsagePiece:
        """``piece`` at the settings' price, where they say one."""
        cost = own_cost(model, piece.usage, self._prices)
        return replace(piece, cost=cost) if cost else piece


async def decoded(reply: Reply, decoder: Decoder) -> AsyncGenerator[Piece, None]:
    """The pieces of one reply. Raises ProviderError, also for a reply that ends before its provider had finished."""
    strange = False
    async with aclosing(payloads(reply, lambda: decoder.patience)) as values:
        async for value in values:
            strange = value.whole
            for piece in decoder.feed(value):
                strange = False
                yield piece
    for piece in decoder.end():
        yield piece
    if not decoder.finished:
        raise reply.astray("JSON, but no model's answer") if strange else reply.bad(CUT)
