from __future__ import annotations

import pytest
from pydantic import BaseModel, ValidationError

from perdure.contracts.generation import EmbeddingQuery, ImageQuery, ObjectQuery, VideoQuery

COUNTS: list[tuple[type[BaseModel], str, dict[str, object]]] = [
    (EmbeddingQuery, "dimensions", {"texts": ["a"]}),
    (ImageQuery, "count", {"prompt": "a"}),
    (VideoQuery, "seconds", {"prompt": "a"}),
    (ObjectQuery, "max_output_tokens", {"output_schema": {}}),
]


@pytest.mark.parametrize(("query", "field", "rest"), COUNTS)
@pytest.mark.parametrize("count", [0, -1])
def test_less_than_one_of_something_is_asked_of_nobody(
    query: type[BaseModel], field: str, rest: dict[str, object], count: int
) -> None:
    assert getattr(query.model_validate({"model": "demo:demo", **rest, field: 1}), field) == 1
    with pytest.raises(ValidationError, match=field):
        query.model_validate({"model": "demo:demo", **rest, field: count})
