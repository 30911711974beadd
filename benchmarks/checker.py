"""How well the checker tells what a text supports, against the model alone.

    .venv/bin/python -m benchmarks.checker             the cases that weights and thresholds may be fitted on
    .venv/bin/python -m benchmarks.checker --final     the final fifth; writes results/checker.json

Sets: SciFact's claims with the abstracts that support or contradict them, and with one that shares most terms and says
nothing; Climate-FEVER; sentences of CLAPnq's answers and of Wikipedia, true and with an error planted; SQuAD's answers
with their question (benchmarks.planted_errors). A claim is "supported" or not: balanced accuracy is the mean of the
share of supported ones that are found and of the others that are not accepted.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice

from benchmarks.machine import CACHE, keep, rows, tell
from benchmarks.planted_errors import Case, clapnq, climate_fever, planted, scifact, sentences_of, squad, wikipedia
from thresher.models.cross_encoders import BUNDLED_CHECKER, BundledJudge
from thresher.text.terms import term_set
from thresher.types import UNIT, Chunk, ClaimState, Evidence, Hit, Score
from thresher.verification.check import Checker, ClaimSigns, state_of, weighed
from thresher.verification.windows import windows_of
from thresher_evals.stats import wilson_interval

MOST = 260
"""Cases of each kind of error, and of true sentences, of the large sets (Wikipedia, SQuAD)."""

NOT_STATED = ("not stated", "cited elsewhere")
"""Errors of cases that nothing denies."""

BINS = 10
"""Of the expected calibration error (Naeini et al. 2015)."""

PUBLISHED = {
    "MiniCheck-FT5, 770 M weights (SciFact pairs, 138 supported and 201 not)": {"found": 0.67, "accepted": 0.07},
}


@dataclass(frozen=True)
class Observed:
    """A case and everything that was seen of it."""

    data: str
    error: str
    final: bool
    signs: ClaimSigns
    denies: bool
    """Whether a rule names what the evidence says instead."""

    @property
    def true(self) -> bool:
        """Whether the evidence supports the claim."""
        return not self.error


# --- the cases --------------------------------------------------------------------------------------------------------


def scifact_silent() -> Iterator[Case]:
    """SciFact's claims, each with the abstract that shares most terms with it and that nobody judged for it."""
    abstracts = rows("scifact/corpus.jsonl")
    terms = [term_set(f"{one['title']} {one['text']}") for one in abstracts]
    judged: dict[tuple[str, str], set[str]] = {}
    for case in scifact():
        judged.setdefault((case.key, case.claim), set()).add(case.title)
    for number, ((key, claim), titles) in enumerate(judged.items()):
        if number % 2:  # as many as contradicted ones
            continue
        wanted = term_set(claim)
        order = sorted(range(len(abstracts)), key=lambda at: -len(wanted & terms[at]))
        near = next(abstracts[at] for at in order if abstracts[at]["title"] not in titles)
        yield Case("SciFact", "not stated", key, claim, sentences_of(near["text"]), near["title"])


def cases(limit: int | None) -> list[Case]:
    """Every case, of the large sets the first of each kind."""
    every = [*islice(scifact(), limit), *islice(scifact_silent(), limit), *islice(climate_fever(), limit)]
    every += few(squad(), limit)
    for source in (clapnq(), wikipedia()):
        true = list(islice(source, limit or 5 * MOST))
        every += few([*true, *planted(true)], limit)
    return every


def few(of_set: Sequence[Case] | Iterator[Case], limit: int | None) -> list[Case]:
    """The first cases of each kind and fold: those for choosing and those of the final fifth."""
    counts: dict[tuple[str, bool], int] = {}
    kept = []
    for case in of_set:
        kind = (case.error, case.final)
        counts[kind] = counts.get(kind, 0) + 1
        if counts[kind] <= (limit or MOST):
            kept.append(case)
    return kept


# --- what is seen of them ---------------------------------------------------------------------------------------------


def checker() -> Checker:
    """The bundled one, without documents besides what is cited."""
    return Checker(BundledJudge(BUNDLED_CHECKER))


def evidence(case: Case) -> Evidence:
    """What a case cites, as one piece."""
    text = " ".join(case.sentences)
    chunk = Chunk(case.title, case.title, case.title, case.title, 0, len(text), text)
    return Evidence(Hit(chunk, Score(1.0, UNIT), 1), 0, len(text), text)


def observe(case: Case, check: Checker) -> Observed | None:
    """What model and rules see of a case."""
    seen = check.observe(case.claim, list(windows_of(evidence(case))), question=case.question)
    if seen is None:
        return None
    return Observed(case.data, case.error, case.final, seen.signs, seen.rules.denies)


def observed(every: Sequence[Case]) -> list[Observed]:
    """What is seen of all cases; kept under a hash of the model and the case, for the rules and weights that change."""
    check = checker()
    file = CACHE / f"checker-{check.read.name.replace('/', '_')}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    known = {}
    if file.is_file():
        known = dict(map(json.loads, file.read_text(encoding="utf-8").splitlines()))
    found = []
    started, new = time.monotonic(), 0
    with file.open("a", encoding="utf-8") as out:
        for case in every:
            key = hashlib.sha1(repr(case).encode()).hexdigest()
            if key not in known:
                seen = observe(case, check)
                if seen is None:
                    continue
                known[key] = asdict(seen)
                out.write(json.dumps([key, known[key]]) + "\n")
                new += 1
            found.append(Observed(**known[key] | {"signs": ClaimSigns(**known[key]["signs"])}))
    if new:
        print(f"{new} claims read, {new / (time.monotonic() - started):.1f} a second")
    return found


# --- measures ---------------------------------------------------------------------------------------------------------

Says = Callable[[Observed], tuple[float, ClaimState]]
"""A method: the support it gives a case, and the state."""


def by_model(one: Observed) -> tuple[float, ClaimState]:
    """The trained model alone."""
    return one.signs.selected, ClaimState.SUPPORTED if one.signs.selected >= 0.5 else ClaimState.UNVERIFIED


def by_checker(one: Observed) -> tuple[float, ClaimState]:
    """Both, weighed."""
    found = weighed(one.signs)
    return found.supported, state_of(found, denied=one.denies)


METHODS: dict[str, Says] = {"model alone": by_model, "checker": by_checker}


def measures(found: Sequence[Observed], says: Says) -> dict[str, float | int]:
    """Balanced accuracy, AUROC, ECE, and what becomes of supported and contradicted claims."""
    told = [(one, *says(one)) for one in found]
    right = [state.holds for one, _, state in told if one.true]
    accepted = [state.holds for one, _, state in told if not one.true]
    removed = [state is ClaimState.CONTRADICTED for one, _, state in told if one.true]
    denied = [state is ClaimState.CONTRADICTED for one, _, state in told if one.error and one.error != "not stated"]
    return {
        "supported": len(right),
        "others": len(accepted),
        "found": mean(right),
        "accepted": mean(accepted),
        "supported_called_contradicted": mean(removed),
        "wrong_called_contradicted": mean(denied),
        "balanced_accuracy": (mean(right) + 1 - mean(accepted)) / 2,
        "auroc": auroc([s for one, s, _ in told if one.true], [s for one, s, _ in told if not one.true]),
        "ece": calibration_error([(s, one.true) for one, s, _ in told]),
    }


def mean(values: Sequence[bool]) -> float:
    """Share of the true ones; 0 of none."""
    return sum(values) / len(values) if values else 0.0


def auroc(right: Sequence[float], wrong: Sequence[float]) -> float:
    """Probability that a supported claim has more support than another one, ties half."""
    if not right or not wrong:
        return 0.5
    above = sum((a > b) + 0.5 * (a == b) for a in right for b in wrong)
    return above / (len(right) * len(wrong))


def calibration_error(pairs: Sequence[tuple[float, bool]]) -> float:
    """Mean distance of support and share supported, over bins of equal width."""
    bins: dict[int, list[tuple[float, bool]]] = {}
    for support, true in pairs:
        bins.setdefault(min(BINS - 1, int(support * BINS)), []).append((support, true))
    gaps = (abs(sum(s for s, _ in held) - sum(t for _, t in held)) for held in bins.values())
    return sum(gaps) / len(pairs) if pairs else 0.0


def kinds(found: Sequence[Observed], says: Says) -> dict[str, dict[str, object]]:
    """For each kind of case how many are not taken to be supported, with Wilson's interval."""
    held: dict[str, list[bool]] = {}
    for one in found:
        held.setdefault(f"{one.data}: {one.error or 'true'}", []).append(not says(one)[1].holds)
    return {kind: wilson_interval(sum(gone), len(gone)).to_dict() for kind, gone in held.items()}


def show(found: Sequence[Observed]) -> dict[str, dict[str, dict[str, float | int]]]:
    """A table of sets and methods."""
    results: dict[str, dict[str, dict[str, float | int]]] = {}
    for data in dict.fromkeys(one.data for one in found):
        held = [one for one in found if one.data == data]
        for name, says in METHODS.items():
            row = measures(held, says)
            results.setdefault(data, {})[name] = {key: round(value, 4) for key, value in row.items()}
            cells = "  ".join(
                f"{key} {value:.3f}" if isinstance(value, float) else f"{key} {value}" for key, value in row.items()
            )
            print(f"{data:<14} {name:<12} {cells}")
    return results


def main() -> None:
    """Measure the cases for choosing, or with --final the others."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--final", action="store_true", help="measure the final fifth and write the results")
    parser.add_argument("--limit", type=int, help="only the first cases of each source: a quick look")
    given = parser.parse_args()
    tell()
    every = [case for case in cases(given.limit) if case.final == given.final]
    found = observed(every)
    results = show(found)
    removed = kinds(found, by_checker)
    for kind, interval in removed.items():
        bounds = f"[{interval['low']:.3f}, {interval['high']:.3f}]"
        print(f"{kind:<36} n={interval['n']:<5} not supported {interval['value']:.3f} {bounds}")
    if given.final:
        keep("checker", {"sets": results, "not_supported": removed, "published": PUBLISHED})


if __name__ == "__main__":
    main()
