"""ChunkRAG's second and third look at chunks that were scored: reflection and critic, and the mean of the stages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from thresher.parts.judging import DIGITS, REPLY, ModelScorer, Prompt, contents
from thresher.protocols import Scorer, about
from thresher.types import NO_NOTES, UNIT, Hit, Notes, Query, Scale, Score, Scores

_YEAR = r"(?<![\d.,$€£#-])(?:1\d{3}|20\d{2})(?!\d|[.,]\d|\s*%)"
_PERIOD = re.compile(
    rf"(?:\b(?:between|since|after|before|until|till|up to)\s+)?{_YEAR}"
    r"(?:s\b|\s*(?:-|–|to|until|till|through|and)\s*(?:1\d{3}|20\d{2})(?!\d))?",
    re.IGNORECASE,
)
_RECENCY = re.compile(
    r"\b(?:latest|newest|most recent|recent|recently|current|currently|today|nowadays|right now|this year)\b",
    re.IGNORECASE,
)


def temporal(query: Query, hit: Hit) -> str:
    """The years that question and chunk name, for the critic; empty where either has none.

    A question without a year may ask for what is recent, which counts from the day of the asking.
    """
    asked = years_in(query.question)
    if not asked and query.today and (recency := _RECENCY.search(query.question)):
        asked = [f"{recency[0].lower()} (today is {query.today[:10]})"]
    named = years_in(f"{hit.chunk.title}\n{hit.chunk.text}")
    return f"years in question: {', '.join(asked)}; years in chunk: {', '.join(named)}" if asked and named else ""


def years_in(text: str) -> list[str]:
    """The years, decades and spans of years a text names, 1000 to 2099, each once, in its own words."""
    return list(dict.fromkeys(match[0] for match in _PERIOD.finditer(text)))


Earlier = Mapping[str, Sequence[Score | None]]
"""Scores given before, by the name of the stage (`base`, `reflection`), in the order of the hits."""

Stage = Callable[[Query, Sequence[Hit], Earlier], Scores]
"""A look at chunks that were scored before."""

REFLECTION = Prompt(
    f"""You gave each of several chunks of text a score from 0 to 1 for its relevance to a query; it stands beside the
chunk. Look at each again: does it hold what answers the query, or only words of it? Are the names, places and dates
those of the query? Keep the score where it was right and change it where it was not.
{REPLY}""",
    version=1,
    undone="not reflected on",
)

CRITIC = Prompt(
    f"""You are the critic of a judge: you score how relevant each of several chunks of text is to a query, from 0 to 1,
and you look for what a hasty judge misses: a chunk about another person, place or thing of the same name; a chunk that
repeats words of the query and does not answer it; a chunk of another time than the query asks for; a plain chunk that
does answer. Where earlier scores stand beside a chunk, they may be wrong: agree or disagree with them. Notes beside a
chunk come from a program that compares query and chunk: weigh them.
{REPLY}""",
    version=1,
    undone="not seen by the critic",
)


@dataclass(frozen=True, slots=True)
class Reflection(ModelScorer):
    """The judge asked to reconsider its `base` scores; a chunk without one is left out."""

    about: ClassVar[str] = "reflection"

    def __call__(self, query: Query, hits: Sequence[Hit], earlier: Earlier) -> Scores:
        """One score per hit; None where there was none before, the reply could not be read or the model failed."""
        chunks = {
            at: contents(hit, your_score=f"{score.value:.3g}")
            for at, (hit, score) in enumerate(zip(hits, earlier["base"], strict=True))
            if score is not None
        }
        return self.scored(REFLECTION, query, chunks, number=len(hits))


@dataclass(frozen=True, slots=True)
class Critic(ModelScorer):
    """A second opinion, which sees the scores before its own and how the years of question and chunk compare.

    `sees_scores=False` is that of ChunkRAG's first version, which sees neither.
    """

    sees_scores: bool = True

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return "critic" if self.sees_scores else "independent critic"

    def __call__(self, query: Query, hits: Sequence[Hit], earlier: Earlier) -> Scores:
        """One score per hit; None where the reply could not be read or the model failed."""
        chunks = {at: contents(hit, **self._notes(query, hit, at, earlier)) for at, hit in enumerate(hits)}
        return self.scored(CRITIC, query, chunks, number=len(hits))

    def _notes(self, query: Query, hit: Hit, at: int, earlier: Earlier) -> dict[str, str]:
        """What stands beside a chunk, by the name of its tag."""
        if not self.sees_scores:
            return {}
        given = ((name, scores[at]) for name, scores in earlier.items())
        listed = ", ".join(f"{name} {score.value:.3g}" for name, score in given if score is not None)
        years = temporal(query, hit)
        notes = {"earlier_scores": listed, "notes": years and f"temporal: {years}"}
        return {name: note for name, note in notes.items() if note}


@dataclass(frozen=True, slots=True)
class MultiStageScorer:
    """Weighted mean of the stages that gave a score, 0 to 1 (ChunkRAG, Algorithm 1); a stage that is None is left out.

    A chunk whose base call failed is not asked about again: the same model is likely to fail again.
    """

    base: Scorer
    reflect: Stage | None
    critic: Stage | None
    weights: tuple[float, float, float] = (1 / 3, 1 / 3, 1 / 3)
    """Of base, reflection and critic, not negative, one above 0; only their ratios count."""
    name: ClassVar[str] = "relevance"
    scale: ClassVar[Scale] = UNIT

    @property
    def about(self) -> str:
        """For people, in a few words."""
        return ", ".join(about(stage) for stage in (self.base, self.reflect, self.critic) if stage is not None)

    def __call__(self, query: Query, hits: Sequence[Hit]) -> Scores:
        """One mean per hit, None where no stage gave a score; `others` holds what each stage gave."""
        base = self.base(query, hits)
        stages = {"base": base}
        without = base.missing
        asked = [at for at in range(len(hits)) if at not in without]
        for name, stage in (("reflection", self.reflect), ("critic", self.critic)):
            if stage is None or not asked:
                continue
            earlier = {before: [scored.scores[at] for at in asked] for before, scored in stages.items()}
            scored = stage(query, [hits[at] for at in asked], earlier)
            by_position = dict(zip(asked, scored.scores, strict=True))
            stages[name] = replace(scored, scores=tuple(map(by_position.get, range(len(hits)))))
        given = [
            {name: score for name, scored in stages.items() if (score := scored.scores[at]) is not None}
            for at in range(len(hits))
        ]
        # Where a later stage failed, the mean is of the others: only what has no base score failed.
        notes = sum((scored.notes.without_facts for scored in stages.values()), NO_NOTES)
        facts = {"stages": {name: dict(scored.notes.facts) for name, scored in stages.items()}}
        means = tuple(self._mean(scores) for scores in given)
        return Scores(means, notes + Notes(facts=facts), tuple(given), failed=without)

    def _mean(self, scores: Mapping[str, Score]) -> Score | None:
        weights = dict(zip(("base", "reflection", "critic"), self.weights, strict=True))
        total = sum(weights[name] for name in scores)
        weighted = sum(weights[name] * score.value for name, score in scores.items())
        return Score(round(weighted / total, DIGITS), UNIT) if total else None
