from __future__ import annotations

import pytest

from perdure.contracts.urls import unusable, url_fault


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:11434/v1",
        "https://models.example",
        "https://models.example:65535/a/b",
        "http://[::1]:8080/v1",
        "https://bücher.example/v1",
        "http://under_score:1/",
    ],
)
def test_an_address_that_can_be_used_has_no_fault(url: str) -> None:
    assert unusable(url) == url_fault(url) == ""


@pytest.mark.parametrize(
    "url",
    [
        "",
        "models.example/v1",
        "ftp://canary.example",
        "http://",
        "http:///canary",
        "http://canary:99999/v1",
        "http://canary:0/v1",
        "http://canary:port/v1",
        "http://[::1/v1",
        "http://canary..example/v1",
        f"http://{'a' * 64}.example",
        "http://canary.example/a b",
        "http://canary.example/\n",
    ],
)
def test_an_address_that_nothing_can_be_sent_to_is_told_without_repeating_it(url: str) -> None:
    assert unusable(url).startswith("must ")
    assert url_fault(url) == unusable(url)
    assert "canary" not in unusable(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://canary@models.example",
        "https://u:canary@models.example",
        "https://:canary@models.example",
        "https://models.example/v1?key=canary",
        "https://models.example/v1#canary",
    ],
)
def test_a_credential_is_a_fault_of_an_address_for_all_to_see(url: str) -> None:
    assert unusable(url) == ""
    assert "neither a user nor a query" in url_fault(url)
    assert "canary" not in url_fault(url)
