"""Every rule on the way of a question is in the list, and can be switched off."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from datetime import date
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any, get_args

import pytest

import thresher
from thresher.recipes.rules import RULES, Kind

PACKAGE = Path(thresher.__file__).parent
WAY = ("question", "structure", "text", "retrieval", "judging", "refinement", "answering", "verification")
"""What a question passes, by whatever recipe."""
DECIDING = {
    *("answering/answerer.py", "answering/choose.py", "judging/windows.py", "question/conversation.py"),
    *(f"answering/proposers/{kind}.py" for kind in ("cells", "entries", "passages")),
}
"""Files in which what is private, and what belongs to a class, decides too."""
SAYS = {"bool", "Found | None", "list[Proposal]"}

NOT_RULES = {
    "reads the words of a question for rules of the list": """
        question.wording:asks question.wording:may_be_mistyped question.intent:intent_of
        structure.lookup:words_of structure.lookup:look text.answer_types:answer_type
        text.answer_types:asks_for_figure text.answer_types:asks_for_name text.entities:missing_details
        text.language:question_language text.language:foreign_language verification.rules:asks_whether""",
    "reads a text, a cell or a word for rules of the list": """
        structure.grid:is_heading structure.grid:is_prose structure.grid:is_money
        structure.lookup:is_period structure.lookup:means text.answer_types:is_figure text.boilerplate:has_labels
        text.boilerplate:leans text.numbers:agree text.terms:alike text.terms:among
        answering.checked_answer:is_not_found
        verification.claims:without_markers""",
    "is a part of a rule of the list": """
        structure.versions:are_versions verification.conflicts:answers_differ verification.conflicts:of_the_same
        verification.contradiction:exclude_each_other verification.contradiction:has_new_condition
        verification.rules:case_of""",
    "says why, and decides nothing": """
        answering.doubts:lacks_names answering.doubts:stands_alone answering.doubts:reason""",
    "compares places or documents": """
        answering.citations:same_place
        answering.answerer:_is_of answering.citations:is_quoted_from
        question.conversation:_same_document""",
    "is what the fitted probabilities weigh or order": """
        answering.spans:share_of_terms answering.answerer:Answerer.proposals answering.choose:choose
        answering.passage:in_order answering.proposers.passages:Passages.__call__ judging.certify:passes""",
    "belongs to the chat model, or to what a setting shows": """
        answering.show:shown answering.chat_model:prompt answering.checked_answer:shown_of question.conversation:prompt
        question.conversation:read_question question.rewrite:read_rewriting""",
}
"""Why a function that looks like a rule is none."""


def functions() -> Iterator[str]:
    """Functions that take a question, say yes or no, or propose; and what verification says against a claim."""
    for file in (one for room in WAY for one in sorted((PACKAGE / room).rglob("*.py")) or [PACKAGE / room]):
        path = file.relative_to(PACKAGE)
        for name, node in _functions(ast.parse(file.read_text(encoding="utf-8"))):
            returns = "" if node.returns is None else ast.unparse(node.returns)
            takes = {one.arg for one in (*node.args.args, *node.args.kwonlyargs)}
            public = "." not in name and not name.startswith("_")
            reason = path.parts[0] == "verification" and returns == "str"
            if (public and ("question" in takes or reason)) or (
                returns in SAYS and (public or path.as_posix() in DECIDING)
            ):
                yield f"thresher.{'.'.join(path.with_suffix('').parts)}:{name}"


def _functions(node: ast.AST, of: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.ClassDef):
            yield from _functions(each, f"{of}{each.name}.")
        elif isinstance(each, ast.FunctionDef):
            yield f"{of}{each.name}", each


def at(place: str) -> Any:
    module, _, name = place.partition(":")
    found: Any = import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


PLACES = [place for rule in RULES for place in rule.places]


def test_a_proposer_a_doubt_or_a_bound_is_in_the_list_or_it_is_said_why_it_is_no_rule() -> None:
    others = [f"thresher.{name}" for names in NOT_RULES.values() for name in names.split()]
    there = set(functions())
    assert there - {*PLACES, *others} == set(), "add them to thresher.recipes.rules, or here with a reason"
    assert len(others) == len(set(others))
    assert set(others) <= there - set(PLACES), "what is gone, or is a rule, needs no reason"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_has_its_functions_where_it_says_and_what_stands_in_takes_what_they_take(rule: Any) -> None:
    assert rule.kind in get_args(Kind)
    assert date.fromisoformat(rule.since)
    assert rule.places
    for place in rule.places:
        function = at(place)
        assert callable(function)
        assert (function.__module__, function.__qualname__) == tuple(place.split(":"))
        given = signature(function).parameters.values()
        named = {one.name: None for one in given if one.kind is one.KEYWORD_ONLY}
        plain = [one for one in given if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
        signature(rule.without).bind(*plain, **named)


def test_names_and_functions_stand_once() -> None:
    names = [rule.name for rule in RULES]
    assert len(names) == len(set(names))
    assert len(PLACES) == len(set(PLACES))


def test_no_question_imports_the_list() -> None:
    known = re.compile(r"recipes\.rules|recipes import .*\brules\b")
    assert [file.name for file in PACKAGE.rglob("*.py") if known.search(file.read_text(encoding="utf-8"))] == []
