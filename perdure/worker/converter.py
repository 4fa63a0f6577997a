"""The data converter: every value that goes to or comes from Temporal is plain JSON, read into pydantic records."""

from __future__ import annotations

from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.converter import DataConverter


def data_converter() -> DataConverter:
    """The converter that clients and workers must share.

    Its JSON is what any other Temporal client reads and writes (``json/plain``); a reader ignores fields it does not
    know, so that workers of different releases understand each other.
    """
    return pydantic_data_converter
