"""The form of every value that crosses a boundary: frozen, tolerant of fields that a newer release added."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """Frozen data. Unknown fields are ignored, so that an older worker still decodes what a newer one wrote."""

    model_config = ConfigDict(frozen=True, extra="ignore", ser_json_bytes="base64", val_json_bytes="base64")


class FileRecord(BaseModel):
    """Frozen data that people write by hand. Unknown fields are refused: a typing error must hurt at once."""

    model_config = ConfigDict(frozen=True, extra="forbid")
