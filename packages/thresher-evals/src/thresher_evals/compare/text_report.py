"""A comparison in plain words, for people new to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from thresher_evals.stats import Comparison

Table = tuple[str, Sequence[str], Sequence[Sequence[Any]]]
"""Title, columns and rows."""

MEANINGS = {
    "match": "a right answer stands in the answer, letter by letter",
    "match_norm": "the same, but for case and punctuation",
    "f1": "overlap of words with the right answer",
    "gold_source": "the first citation is of a right document",
    "gold_page": "the first citation is on a right page",
    "wrong_refusals": "refused although there is an answer (less is better)",
    "refusal_recall": "refused where there is no answer",
}


def tell(found: Mapping[str, Any], *, shown: int) -> Iterator[str | Table]:
    """Lines and tables in print order, with at most `shown` worsened questions."""
    yield from opening(found)
    yield from gained(found)
    yield from cost(found)
    yield from worse(found, shown)
    yield from advice(found)


def opening(found: Mapping[str, Any]) -> Iterator[str | Table]:
    """The questions and their outcomes."""
    asked = found["questions"]
    known = f"{asked['answerable']} that the documents answer, {asked['unanswerable']} that they do not"
    yield f"{found['n']} questions: {known}."
    if found["outside"] == "none":
        yield "Recipes that correct had nowhere else to look (--outside none): they judge what was found, drop what"
        yield "does not help, and give no answer when too little is left."
    else:
        yield f"Recipes that correct also looked in: {found['outside']}."
    if asked["unchecked"]:
        yield f"For {asked['unchecked']} of them no right answer is known: there an answer is right when it cites a"
        yield "right document; where that is not known either it is unchecked, and counts as a right one."
    yield ""
    came = {recipe: told["outcomes"] for recipe, told in found["recipes"].items()}
    names = [name for name in came[found["baseline"]] if any(counts[name] for counts in came.values())]
    rows = [
        [
            recipe,
            "yes" if told["corrects"] else "no",
            *(came[recipe][name] for name in names),
            with_interval(told["value"]),
        ]
        for recipe, told in found["recipes"].items()
    ]
    yield ("What came of them", ["recipe", "corrects", *names, "value"], rows)
    costs = number(found["wrong_costs"])
    yield f"value: the mean of +1 for a right answer, 0 for none, -{costs} for a wrong one (see --wrong-costs)."
    yield "In brackets: the range that holds the true number 95 times in 100."
    yield ""


def gained(found: Mapping[str, Any]) -> Iterator[str | Table]:
    """Each recipe against the baseline, and the smallest difference that can be shown."""
    baseline = found["baseline"]
    yield f"What changes against {baseline}"
    for recipe, told in found["gained"].items():
        value = told["value"]
        yield (
            f"  {recipe}: {value['better']} questions better, {value['worse']} worse, value "
            f"{signed(value['difference'])} [{signed(value['low'])}, {signed(value['high'])}]: {judged(value)}"
        )
    blind = [told["detectable"] for told in found["gained"].values()]
    yield f"  {limits(found['n'], max(blind))}"
    yield ""
    names = [name for name in MEANINGS if any(one["measures"][name]["n"] for one in found["recipes"].values())]
    rows = [
        [f"{name}: {MEANINGS[name]}", *(with_interval(told["measures"][name]) for told in found["recipes"].values())]
        for name in names
    ]
    yield ("Measure by measure", ["measure", *found["recipes"]], rows)
    yield ""


def limits(n: int, detectable: float) -> str:
    """The smallest difference in value that so many questions can show."""
    if detectable >= 1:
        return f"n = {n} is too few: differences under 100 points cannot be seen here. Ask at least 50 questions."
    least = f"n = {n}: differences under {100 * detectable:.0f} points (100 times the value) are easily missed here"
    return f"{least}: a difference may exist unseen."


def judged(compared: Mapping[str, Any]) -> str:
    """A difference in words."""
    return {1: "better", 0: "cannot be told from chance", -1: "worse"}[Comparison(**compared).direction]


def cost(found: Mapping[str, Any]) -> Iterator[str | Table]:
    """Seconds, calls and tokens of each recipe."""
    rows = [
        [
            recipe,
            with_interval(told["seconds_p50"]),
            with_interval(told["seconds_p95"]),
            "-" if told["llm_calls"]["value"] is None else f"{told['llm_calls']['value']:.1f}",
            "-" if told["tokens"] is None else f"{told['tokens']:.0f}",
        ]
        for recipe, told in found["cost"].items()
    ]
    yield ("What a question costs", ["recipe", "seconds, half of them", "seconds, 95 in 100", "calls", "tokens"], rows)
    yield "Half of the questions, and 95 in 100, took at most so many seconds; calls and tokens are a chat model's."
    yield ""


def worse(found: Mapping[str, Any], shown: int) -> Iterator[str | Table]:
    """Questions that the best correcting recipe answers worse than the baseline, with both answers."""
    correcting = [recipe for recipe, told in found["recipes"].items() if told["corrects"]]
    if not correcting:
        return
    best = max(correcting, key=lambda recipe: found["recipes"][recipe]["value"]["value"] or 0.0)
    lost = [one for one in found["hurt"] if one["recipe"] == best]
    baseline, n = found["baseline"], found["n"]
    yield f"Where correction hurt: {len(lost)} of {n} questions came out worse with {best} than with {baseline}"
    category = None
    for one in lost[:shown]:
        if one["category"] != category:
            category = one["category"]
            number_of = sum(other["category"] == category for other in lost)
            yield f"  {category or 'no category'} ({number_of})"
        yield f"    {one['question']}"
        if one["answers"]:
            yield f"      right answer: {' / '.join(one['answers'])}"
        yield f"      {baseline}: {answer(one['before'])}"
        yield f"      {best}: {answer(one['after'])}"
    if len(lost) > shown:
        yield f"  and {len(lost) - shown} more; --json lists all, of every recipe"
    yield ""


def answer(said: Mapping[str, Any]) -> str:
    """Outcome and text, on one line."""
    text = " ".join((said["text"] or "").split())
    cut = text if len(text) <= 160 else f"{text[:159].rstrip()}…"
    return f"{said['outcome']}: {cut}" if cut else said["outcome"]


def advice(found: Mapping[str, Any]) -> Iterator[str | Table]:
    """The recommendation."""
    told = found["recommend"]
    yield "What to do"
    yield from silence(found)
    if told["recipe"] not in found["silence"]["worse"]:
        sure = "" if told["certain"] else " (not certain)"
        yield f"  Use {told['recipe']}{sure}: {told['why']}."
    elif not found["silence"]["every"]:
        yield f"  Use {found['silence']['best']} (not certain), whose answers are worth most."
    if calibration := found.get("calibration"):  # an earlier version stored another choice here
        yield f"  Calibration on your questions: {calibration['why']}{checked(calibration)}."


def silence(found: Mapping[str, Any]) -> Iterator[str]:
    """Recipes that are worth less than no answer, and what to do then."""
    told = found["silence"]
    if not told["worse"]:
        return
    if not told["every"]:
        yield f"  Worse than silence on these questions: {', '.join(told['worse'])} (a value below 0)."
        return
    best = told["best"]
    worth = with_interval(found["recipes"][best]["value"])
    sure = "" if told["certain"] else " (not certain)"
    yield (
        f"  Every recipe is worse than silence here{sure}: no answer at all is worth 0, and the best, {best}, "
        f"{worth}, where a wrong answer costs {number(found['wrong_costs'])}."
    )
    elsewhere, missing = told["wrong_elsewhere"], told["wrong_of_unanswerable"]
    yield (
        f"  Of its {told['wrong']} wrong answers {missing} are to questions that the documents do not answer, and "
        f"{elsewhere} cite none of the right documents."
    )
    yield "  Do not pass its answers on unread. More is refused with a higher answer.min_confidence (--set); where the"
    yield "  right documents are not found, the documents, their language or the encoder do not fit the questions."


def checked(tried: Mapping[str, Any]) -> str:
    """The result of a choice on questions that it was not made on."""
    if "check" not in tried:
        return ""
    check = tried["check"]
    return (
        f" (on {tried['checked_on']} other questions {check['better']} came out better and {check['worse']} worse, "
        f"value {signed(check['difference'])} [{signed(check['low'])}, {signed(check['high'])}])"
    )


def with_interval(value: Mapping[str, Any]) -> str:
    """A number and its interval."""
    if value["value"] is None:
        return "-"
    return f"{value['value']:.2f} [{value['low']:.2f}, {value['high']:.2f}]"


def signed(value: float | None) -> str:
    """A difference with its sign."""
    return "-" if value is None else f"{value:+.2f}"


def number(value: float) -> str:
    """A number without needless zeros."""
    return f"{value:g}"
