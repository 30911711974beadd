"""What a reply says, whatever is asked of it: whether it answers, in which words, and whether they are right."""

from __future__ import annotations

from thresher.evals import answers
from thresher.evals.option_answers import read_option, same_label
from thresher.evals.rows import Reply, Row


def answered(reply: Reply | None) -> bool:
    """Whether there is an answer and not a refusal."""
    return reply is not None and not reply.abstained


def spoken(reply: Reply | None) -> str:
    """The answer's words; citation markers and the quotation marks before them are not words."""
    return "" if reply is None else answers.without_markers(answers.unquoted(reply.text), reply.markers)


def picked(row: Row) -> str | None:
    """The option that an answer names; None where it names none, and for refusals and failures."""
    return read_option(spoken(row.reply), row.question.options) if answered(row.reply) else None


def right_option(row: Row) -> bool:
    """Whether the option that is named is a right one; naming none is wrong."""
    option = picked(row)
    return option is not None and any(same_label(option, gold) for gold in row.question.answers)


def right(row: Row) -> bool | None:
    """Whether an answer is right; None for refusals and failures, and where no right answer is known.

    One of several options is right by its label, any other answer by `match_norm`. An answer to a question that cannot
    be answered is wrong.
    """
    asked = row.question
    if not answered(row.reply) or (asked.answerable and not asked.answers):
        return None
    if not asked.answerable:
        return False
    return right_option(row) if asked.options else answers.match_norm(spoken(row.reply), asked.answers)
