"""Fields that the lines of several question files have; what is not as it should be is named with its line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from thresher.evals.lines import Record


def unique(found: Iterable[Record], *names: str) -> dict[str, Record]:
    """The lines by their ids: the first of the fields `names` that a line has, `id` where none is given."""
    fields = names or ("id",)
    by_id: dict[str, Record] = {}
    for record in found:
        id = record.identity(next((name for name in fields if name in record.fields), fields[0]))
        if id in by_id:
            raise record.bad(f"the id '{id}' stands on an earlier line too", next_step="ids must be unique")
        by_id[id] = record
    return by_id


def optional_text(record: Record, name: str) -> str:
    """A text that may be blank or absent, without white space around it."""
    value = record.fields.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise record.bad(f"'{name}' is not a text")
    return value.strip()


def objects(record: Record, name: str) -> tuple[Record, ...]:
    """A required list of objects, each read as a line is."""
    value = record.fields.get(name)
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise record.bad(f"'{name}' is not a list of objects", next_step=f'give "{name}": [{{...}}] on every line')
    return tuple(Record(record.path, record.number, item) for item in value)


def one_of(record: Record, name: str, allowed: Sequence[str]) -> str:
    """A required text that is one of a few."""
    value = record.text(name)
    if value not in allowed:
        raise record.bad(f"'{name}' is '{value}'", next_step=f"it must be one of {', '.join(allowed)}")
    return value
