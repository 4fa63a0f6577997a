from __future__ import annotations

import logging

import pytest

from perdure.activities.docstrings import Described, read_docstring


def google(path: str, limit: int) -> None:
    """Search a folder.

    Finds nothing in hidden folders.

    Args:
        path: The folder,
            with its subfolders.
        limit (int): How many at most.

    Returns:
        What was found.

    Raises:
        OSError: When there is no folder.
    """


def numpy(path: str, limit: int) -> None:
    """Search a folder.

    Finds nothing in hidden folders.

    Parameters
    ----------
    path
        The folder,
        with its subfolders.
    limit : int
        How many at most.

    Returns
    -------
    list
        What was found.
    """


def sphinx(path: str, limit: int) -> None:
    """Search a folder.

    Finds nothing in hidden folders.

    :param path: The folder, with its subfolders.
    :param int limit: How many at most.
    :returns: What was found.
    """


@pytest.mark.parametrize("function", [google, numpy, sphinx])
def test_every_usual_style_gives_the_prose_and_the_parameters(
    function: object, caplog: pytest.LogCaptureFixture
) -> None:
    assert callable(function)
    with caplog.at_level(logging.DEBUG):
        described = read_docstring(function)

    assert described == Described(
        "Search a folder.\n\nFinds nothing in hidden folders.",
        {"path": "The folder, with its subfolders.", "limit": "How many at most."},
    )
    assert caplog.records == []


def test_a_function_without_a_docstring_is_described_by_nothing() -> None:
    def silent() -> None: ...

    assert read_docstring(silent) == Described()


def test_a_docstring_in_no_style_is_prose() -> None:
    def plain() -> None:
        """Do it: now - and well."""

    assert read_docstring(plain) == Described("Do it: now - and well.")
