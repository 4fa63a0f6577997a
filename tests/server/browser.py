"""A browser without a window, driven over WebDriver's own protocol (https://www.w3.org/TR/webdriver2/)."""

from __future__ import annotations

import asyncio
import base64
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.servers import DEADLINE, OwnedProcess, free_port

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")

QUIET = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-proxy-server",
    "--window-size=1500,1100",
)

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
"""The key under which WebDriver names an element."""

MOVING = ("element not interactable", "element click intercepted", "stale element reference")
"""WebDriver's errors about elements that are still on their way to their place."""

VISIBLE = """
const [css, text] = arguments;
return [...document.querySelectorAll(css)].find(
  element => element.checkVisibility({opacityProperty: true, visibilityProperty: true})
    && element.getBoundingClientRect().width > 0 && element.textContent.includes(text)) || null;
"""


class StillMovingError(AssertionError):
    """An element cannot be used yet."""


@dataclass(frozen=True, slots=True)
class Browser:
    """One window. Everything that is looked for is awaited, and fails with what the page shows at the deadline."""

    session: httpx.AsyncClient

    async def go(self, url: str) -> None:
        """Open a page."""
        await self._do("url", {"url": url})

    async def url(self) -> str:
        """Where the window is."""
        return str((await self.session.get("url")).json()["value"])

    async def find(self, css: str, text: str = "") -> str:
        """The first visible element that the selector names and whose text holds ``text``; its id."""
        found = await self.run(VISIBLE, css, text)
        try:
            async with asyncio.timeout(DEADLINE):
                while not found:
                    await asyncio.sleep(0.1)
                    found = await self.run(VISIBLE, css, text)
        except TimeoutError:
            page = await self.run("return document.body.innerText")
            raise AssertionError(f"no visible {css!r} with {text!r} at {await self.url()}; the page:\n{page}") from None
        return str(found[ELEMENT])

    async def click(self, css: str, text: str = "") -> None:
        """Click such an element."""
        await self._act("click", {}, css, text)

    async def type(self, words: str, css: str, text: str = "") -> None:
        """Type into such an element."""
        await self._act("value", {"text": words}, css, text)

    async def run(self, script: str, *arguments: Any) -> Any:
        """What the script gives that runs in the page."""
        return await self._do("execute/sync", {"script": script, "args": arguments})

    async def frame(self, css: str) -> None:
        """Go into such a frame."""
        await self._do("frame", {"id": {ELEMENT: await self.find(css)}})

    async def leave_frame(self) -> None:
        """Go back to the whole page."""
        await self._do("frame", {"id": None})

    async def picture(self) -> bytes:
        """What the window shows, as PNG."""
        return base64.b64decode((await self.session.get("screenshot")).json()["value"])

    async def _act(self, verb: str, body: dict[str, Any], css: str, text: str) -> None:
        end = asyncio.get_running_loop().time() + DEADLINE
        while True:
            try:
                await self._do(f"element/{await self.find(css, text)}/{verb}", body)
                return
            except StillMovingError:
                if asyncio.get_running_loop().time() > end:
                    raise
                await asyncio.sleep(0.1)

    async def _do(self, command: str, body: dict[str, Any]) -> Any:
        answer = (await self.session.post(command, json=body)).json()["value"]
        if isinstance(answer, dict) and "error" in answer:
            kind = StillMovingError if answer["error"] in MOVING else AssertionError
            raise kind(f"{command}: {answer['error']}: {answer['message']}")
        return answer


@asynccontextmanager
async def browsing(profile: Path) -> AsyncIterator[Browser]:
    """A window for the time of the block, with a profile of its own."""
    assert CHROMIUM
    assert DRIVER
    port = free_port()
    driver = OwnedProcess([DRIVER, f"--port={port}"])
    try:
        driver.until("started successfully")
        async with httpx.AsyncClient(trust_env=False, timeout=DEADLINE) as http:
            options = {"binary": CHROMIUM, "args": [*QUIET, f"--user-data-dir={profile}"]}
            wanted = {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}}
            sessions = f"http://127.0.0.1:{port}/session"
            made = (await http.post(sessions, json=wanted)).json()["value"]
            assert "sessionId" in made, made
            http.base_url = httpx.URL(f"{sessions}/{made['sessionId']}/")
            try:
                yield Browser(http)
            finally:
                await http.delete(f"{sessions}/{made['sessionId']}")
    finally:
        driver.kill()
