"""Every rule that proposes, vetoes, lifts, reorders or rewords on the way of a question: its name, function and day.

The list switches nothing: no question imports it. `python -m benchmarks.quality --worth` puts `without` in place of
each function, asks the sets again, and counts what the rule wins and loses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["proposes", "vetoes", "lifts", "reorders", "rewords"]
"""What a rule does: finds an answer, doubts or drops one, makes one likelier, orders what there is, reads other words
than stand there."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule by hand: what it does, which functions it is, and what they return where it is switched off."""

    name: str
    kind: Kind
    places: tuple[str, ...]
    """Its functions, each as `module:name` or `module:class.method`."""
    without: Callable[..., Any]
    """Takes what the functions take, and returns what they return where there is nothing for the rule to do."""
    since: str
    """YYYY-MM-DD: the day of the commit that brought the function."""


# --- what a function returns without its rule -------------------------------------------------------------------------


def none(*given: Any, **named: Any) -> None:
    """No answer."""


def no(*given: Any, **named: Any) -> bool:
    """It does not hold."""
    return False


def yes(*given: Any, **named: Any) -> bool:
    """It holds."""
    return True


def zero(*given: Any, **named: Any) -> float:
    """No probability."""
    return 0.0


def no_words(*given: Any, **named: Any) -> str:
    """The empty text."""
    return ""


def nothing(*given: Any, **named: Any) -> tuple[Any, ...]:
    """None of them."""
    return ()


def first(one: Any, *rest: Any, **named: Any) -> Any:
    """What was given first, unchanged."""
    return one


def second(one: Any, other: Any, *rest: Any, **named: Any) -> Any:
    """What was given second, unchanged: a method's first argument after itself."""
    return other


def alone(question: str, *rest: Any, **named: Any) -> tuple[str, ...]:
    """The question in its own wording alone."""
    return (question,)


def none_missing(question: str, evidence: Sequence[Any], *rest: Any, **named: Any) -> list[int]:
    """Nothing is missing in any piece of the evidence."""
    return [0] * len(evidence)


def what_it_wraps(part: Any, query: Any) -> Any:
    """What the retriever found that a part is wrapped around."""
    return part.retriever(query)


def in_one(question: str) -> tuple[Any, ...]:
    """The question as one part."""
    from thresher.question.wording import SubQuestion

    return (SubQuestion(question, question),)


def at_any_time(question: str) -> Any:
    """The question as it stands, of no time."""
    from thresher.structure.versions import AskedTime

    return AskedTime(question, None)


def no_entries(*given: Any, **named: Any) -> Any:
    """No entry is named."""
    from thresher.structure.entries import Named

    return Named((), ())


# --- the rules, in the order in which a question meets them -----------------------------------------------------------

# fmt: off
RULES: tuple[Rule, ...] = (
    # before anything is searched
    Rule("courtesy", "proposes", ("thresher.question.intent:courtesy",), no_words, "2026-11-25"),
    Rule("file_asked", "proposes", ("thresher.question.intent:file_asked",), none, "2026-11-30"),
    Rule("whole_document", "proposes", ("thresher.question.intent:asks_about_whole",), none, "2026-11-28"),

    # how the question is read
    Rule("mistyped", "rewords", ("thresher.question.wording:has_mistyped",), no, "2026-11-28"),
    Rule("two_in_one", "rewords", ("thresher.question.wording:asked_apart",), in_one, "2026-11-25"),
    Rule("asked_time", "rewords", ("thresher.structure.versions:asked_time",), at_any_time, "2026-11-26"),

    # follow-ups
    Rule("follow_up", "rewords", ("thresher.question.conversation:FollowUp.__call__",), second, "2026-11-23"),
    Rule("cannot_stand_alone", "rewords", ("thresher.question.wording:cannot_stand_alone",), no, "2026-11-25"),
    Rule("points", "rewords", ("thresher.question.wording:points",), no, "2026-11-26"),
    Rule("with_topic", "rewords", ("thresher.question.conversation:with_topic",), alone, "2026-11-25"),
    Rule("in_its_place", "rewords", ("thresher.question.conversation:in_its_place",), nothing, "2026-11-26"),
    Rule("within_topic", "rewords", ("thresher.question.conversation:FollowUp._within_topic",), second, "2026-11-28"),
    Rule("likelier_as_typed", "rewords", ("thresher.question.conversation:FollowUp._alone",), no, "2026-11-28"),

    # what is found, and in which order
    Rule("what_is", "reorders", ("thresher.question.intent:subject_asked",), no_words, "2026-11-28"),
    Rule("exact_identifiers", "reorders", ("thresher.retrieval.search:ExactRetriever.__call__",), what_it_wraps,
         "2026-11-25"),
    Rule("own_first", "reorders", ("thresher.answering.choose:own_first",), first, "2026-11-28"),
    Rule("heading_lines", "vetoes", ("thresher.text.boilerplate:is_heading_line",), no, "2026-11-29"),
    Rule("in_force", "vetoes", ("thresher.structure.versions:versions_of",), nothing, "2026-11-26"),
    Rule("at_that_time", "vetoes", ("thresher.structure.versions:AskedTime.allows",), yes, "2026-11-26"),

    # what the judge reads, and what makes it likelier
    Rule("rows_in_words", "rewords", ("thresher.judging.windows:_in_words",), first, "2026-11-22"),
    Rule("lacking", "vetoes", ("thresher.answering.spans:lacking",), none_missing, "2026-11-22"),

    # cells of tables and forms
    Rule("cells", "proposes", ("thresher.structure.answers:answered",), none, "2026-11-22"),
    Rule("looked_up", "proposes", ("thresher.structure.answers:looked_up",), none, "2026-11-22"),
    Rule("extreme", "proposes", ("thresher.structure.answers:extreme",), none, "2026-11-22"),
    Rule("total", "proposes", ("thresher.structure.answers:total",), none, "2026-11-22"),
    Rule("row_cells", "proposes", ("thresher.structure.answers:row_cells",), none, "2026-11-26"),
    Rule("forms", "proposes", ("thresher.structure.forms:filled_in",), none, "2026-11-23"),
    Rule("names_several_columns", "vetoes", ("thresher.structure.answers:_names_several_columns",), no, "2026-11-29"),
    Rule("without_lookalikes", "vetoes", ("thresher.structure.lookup:_without_lookalikes",), second, "2026-11-26"),

    # entries under an identifier
    Rule("entries", "proposes", ("thresher.structure.entries:named_in",), no_entries, "2026-11-25"),
    Rule("entries_in_front", "proposes", ("thresher.answering.proposers.entries:Entries.proposals",), nothing,
         "2026-11-25"),
    Rule("entry_probability", "lifts", ("thresher.structure.entries:entry_probability",), zero, "2026-11-28"),
    Rule("of_other_entries", "vetoes",
         ("thresher.judging.windows:_is_other", "thresher.answering.proposers.entries:Entries.is_listed"), no,
         "2026-11-25"),

    # sentences that may not answer
    Rule("names_alike", "vetoes", ("thresher.verification.contradiction:names_alike",), no, "2026-11-26"),
    Rule("questions", "vetoes", ("thresher.text.boilerplate:asks",), no, "2026-11-27"),
    Rule("says_nothing", "vetoes", ("thresher.text.boilerplate:says_nothing",), no, "2026-11-22"),
    Rule("commands", "vetoes", ("thresher.text.injection:is_command",), no, "2026-11-22"),
    Rule("struck_text", "vetoes", ("thresher.text.marks:holds", "thresher.answering.proposers.passages:_stands"), yes,
         "2026-11-28"),

    # what is insufficient, or no nearer than something else
    Rule("nearest", "proposes", ("thresher.pipeline:Pipeline._nearest",), none, "2026-11-29"),
    Rule("others_are_as_near", "vetoes", ("thresher.answering.doubts:others_are_as_near",), no_words, "2026-11-29"),

    # what stands beside it
    Rule("lacks_more", "vetoes", ("thresher.answering.choose:_lacks_more",), no, "2026-11-28"),
    Rule("says_the_same", "vetoes", ("thresher.answering.choose:_says_the_same",), no, "2026-11-28"),
    Rule("rivals", "proposes", ("thresher.verification.conflicts:are_rivals",), no, "2026-11-23"),
    Rule("conflicts", "proposes", ("thresher.verification.conflicts:find_conflicts",), nothing, "2026-11-22"),

    # bounds of a sentence that is checked: of a chat model, or of `check`
    Rule("claim_in_full", "rewords",
         ("thresher.verification.check:with_question", "thresher.verification.windows:spelled_out"), first,
         "2026-11-27"),
    Rule("quoted", "lifts", ("thresher.verification.quoting:is_quoted",), no, "2026-11-29"),
    Rule("value", "vetoes", ("thresher.verification.claims:is_value",), no, "2026-11-30"),
    Rule("further_evidence", "lifts",
         ("thresher.verification.attribution:Attribution._clauses",
          "thresher.verification.attribution:Attribution._whole_document"), none, "2026-11-23"),
    Rule("missing_quantity", "vetoes", ("thresher.text.numbers:missing_quantity",), no_words, "2026-11-22"),
    Rule("missing_name", "vetoes", ("thresher.text.entities:missing_name",), no_words, "2026-11-22"),
    Rule("namesake", "vetoes", ("thresher.text.entities:namesake",), no_words, "2026-11-23"),
    Rule("misplaced", "vetoes", ("thresher.verification.rules:Case._misplaced",), no_words, "2026-11-27"),
    Rule("denied", "vetoes",
         ("thresher.verification.contradiction:contradiction", "thresher.verification.windows:cell_instead"), no_words,
         "2026-11-22"),
    Rule("states_nothing", "vetoes",
         ("thresher.verification.attribution:obeys", "thresher.verification.attribution:repeats",
          "thresher.verification.rules:is_bare_verdict"), no, "2026-11-23"),
    Rule("noise", "vetoes",
         ("thresher.answering.checked_answer:CheckedAnswer._is_noise",
          "thresher.answering.checked_answer:CheckedAnswer._declines"), no, "2026-11-23"),
    Rule("missing_answer", "vetoes", ("thresher.text.answer_types:missing_answer",), no_words, "2026-11-26"),
    Rule("superseded", "vetoes", ("thresher.answering.checked_answer:CheckedAnswer._superseded",), no_words,
         "2026-11-28"),
)
# fmt: on
"""A function that several rules call is in the list where it decides something by itself."""
