"""What an open collection learns about itself and mends: calibration, certificates, labels, `doctor`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thresher import recipes
from thresher.answer import Answer
from thresher.collection.asking import Asking
from thresher.collection.opened import Opened, without_model
from thresher.collection.options import DEFAULT_LIMIT, check_number, check_question
from thresher.errors import StoreError, UsageError, WrongType, check_type
from thresher.plugins import required
from thresher.protocols import Counting
from thresher.types import Public

if TYPE_CHECKING:
    from thresher.collection.forgetting import Forgetting
    from thresher.indexing.doctor import Finding
    from thresher.judging.calibration import Calibration
    from thresher.judging.certificate import Certificate, NotCertified
    from thresher.recipes.certify import AnswerLabel
    from thresher.tracing.feedback import Label


@dataclass(frozen=True, slots=True)
class Maintenance:
    """What `Collection` does to measure and mend itself."""

    opened: Opened
    asking: Asking

    def doctor(self, forgetting: Forgetting, settings: Mapping[str, Any] | None, *, repair: bool) -> list[Finding]:
        """Check the collection on disk, mend what can be mended, and drop old versions of its tables."""
        from thresher.indexing.doctor import Finding, examine

        store = self.opened.existing()
        cut_short = [Finding("purge", f"of {place.source} was cut short", repair) for place in forgetting.unfinished()]
        if cut_short and repair:
            forgetting.finish()
        configs = self.opened.index_configs(recipes.names(), settings)
        found = [*cut_short, *examine(store, configs, repair=repair)]
        if repair and all(finding.mended for finding in found):
            store.maintain()
        return found

    def feedback(self, trace: str | Answer, right: bool, answer: str | None, by: str) -> Label:
        """Keep what a person says of an answer."""
        from thresher.tracing.feedback import label_of

        check_type("trace", trace, (str, Answer), "an answer, the id of its trace, or last")
        check_type("right", right, bool, "True or False")
        check_type("answer", answer or "", str, "a text")
        self.opened.existing()
        answered = trace.to_dict(chunks=True) if isinstance(trace, Answer) else self.opened.traces.load(trace)
        label = label_of(answered, right=right, answer=answer, by=by)
        self.opened.labels.add(label)
        return label

    def calibrate(
        self,
        questions: Sequence[tuple[str, bool]] | None,
        recipe: str | recipes.Recipe,
        number: int,
        seed: int,
        settings: Mapping[str, Any] | None,
        progress: Callable[[int], None] | None,
    ) -> Calibration:
        """Learn and store what a recipe's judge is worth here."""
        from thresher.recipes.calibrate import answerable, calibrated

        if questions is not None:
            for asked in questions:
                if not (isinstance(asked, tuple | list) and list(map(type, asked)) == [str, bool]):
                    raise WrongType("questions", asked, "pairs of a question and whether the documents answer it")
        check_type("number", number, int, "a whole number")
        self.opened.existing()
        made = calibrated(
            recipes.get(recipe),
            self.opened.configured(recipe, settings),
            self.opened.parts(),
            questions,
            number=number,
            seed=seed,
            limit=DEFAULT_LIMIT,
            feedback=answerable(self.opened.labels.labels()),
            progress=progress,
        )
        self.opened.calibrations.put(made)
        return made

    def certify(
        self,
        at_most_wrong: float | None,
        risk: float | None,
        confidence: float,
        labels: Path | None,
        recipe: str,
        settings: Mapping[str, Any] | None,
        progress: Callable[[int], None] | None,
    ) -> Certificate | NotCertified:
        """Certify and store that a recipe's answers are wrong at most so often."""
        from thresher.judging.certificate import Certificate
        from thresher.recipes.certify import Wanted, asked_again, read_labels, terms

        wanted = Wanted.of(at_most_wrong, risk, confidence)
        check_type("recipe", recipe, str, "the name of a recipe")
        given = [] if labels is None else read_labels(labels)
        if not len(self.opened.existing().catalog()):
            raise UsageError(
                "has no documents to ask", subject=f"collection {self.opened.name}", next_step="call `add(PATH)`"
            )
        configured = self.opened.configured(recipe, settings)
        outside = self.opened.outside(configured.outside)
        of = terms(configured, self.opened.parts())  # what changes while the questions are asked makes it void

        def ask(question: str) -> Answer:
            pipeline = self.opened.pipeline(recipe, configured, self.opened.parts(outside=outside))
            return pipeline.answer(self.asking.query(question))

        spoken, gone = self._labelled_answers()
        found, outdated = asked_again([*given, *spoken], ask, progress)
        made = wanted.certified(
            found,
            least=configured.answer.min_confidence,
            collection=self.opened.name,
            recipe=recipe,
            of=of,
            outdated=outdated + gone,
        )
        made = replace(made, attempts=self.opened.certificates.attempted(made, recipe, of, len(found)))
        if isinstance(made, Certificate):
            self.opened.certificates.put(made)
            return made
        return replace(made, withdrawn=self.opened.certificates.withdraw(recipe, made))

    def _labelled_answers(self) -> tuple[list[AnswerLabel], int]:
        """Feedback with the answer that it is of, and how much of it is of answers that are stored no longer.

        That of a server's callers is left out: they chose which answers to label, which is no sample.
        """
        from thresher.recipes.certify import AnswerLabel

        found, labels = list[AnswerLabel](), [one for one in self.opened.labels.labels() if not one.by]
        for label in labels:
            with suppress(UsageError, StoreError):
                found.append(AnswerLabel(label.question, self.opened.traces.load(label.trace)["text"], label.right))
        return found, len(labels) - len(found)

    def measure_budget(
        self,
        questions: Sequence[tuple[str, Sequence[str]]] | None,
        recipe: str | recipes.Recipe,
        number: int,
        seed: int,
        budgets: Sequence[int],
        settings: Mapping[str, Any] | None,
        progress: Callable[[int], None] | None,
    ) -> Public:
        """Which share of the answers stays in the spans of a search within several budgets."""
        self.opened.existing()
        for most in budgets:
            check_number("max_tokens", most, least=1)
        for question, _ in questions or ():
            check_question(question)
        curve: Public = required("thresher.measures", "budget")(
            recipes.get(recipe),
            without_model(self.opened.configured(recipe, settings)),
            self.opened.parts(),
            questions,
            number=number,
            seed=seed,
            limit=DEFAULT_LIMIT,
            budgets=budgets,
            progress=progress,
        )
        return curve

    def train_judge(
        self,
        labels: Path | None,
        epochs: int,
        seed: int,
        settings: Mapping[str, Any] | None,
        counting: Counting | None,
    ) -> Public:
        """Train the judge further on labels and feedback; needs the extra `training`."""
        self.opened.existing()
        train = required("thresher.training", "judge")
        configured, parts = self.opened.configured("corrective", settings), self.opened.parts()
        given = (labels, self.opened.labels.labels(), configured, parts, self.opened.home)
        trained: Public = train(*given, epochs=epochs, seed=seed, counting=counting)
        return trained
