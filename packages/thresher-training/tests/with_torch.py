"""What needs torch and onnx, which the tests are run without: `make training` in an environment that has them.

python -m pytest packages/thresher-training/tests/with_torch.py
"""

from __future__ import annotations

import errno
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

import thresher
from thresher.cli.app import main
from thresher.errors import ModelError
from thresher.models.cross_encoders import BUNDLED_JUDGE, BundledJudge
from thresher_training.labels import Group, Passage
from thresher_training.train_judge import _write

torch = pytest.importorskip("torch", reason="needs the extra `training`")
pytest.importorskip("onnx", reason="needs the extra `training`")

from research.train.__main__ import MARGIN, contrast_loss, ranked_loss  # noqa: E402 - after what it needs
from research.train.batches import QUESTION_TOKENS, Claims, Contrasts, Tokens  # noqa: E402
from research.train.tune import Measured, tuned  # noqa: E402
from thresher_training import tuning  # noqa: E402
from thresher_training.export import exported, floats_of  # noqa: E402
from thresher_training.network import Body, Judge  # noqa: E402
from thresher_training.tokens import MAX_TOKENS, padded  # noqa: E402

PLACES = ("Aberfeld", "Brunnau", "Corvale", "Dornwick", "Elmsted", "Farrow", "Gratz", "Hallow", "Istvale", "Jarrow")


def groups() -> list[Group]:
    def founded(at: int) -> Passage:
        return Passage(PLACES[at], f"The tannery of {PLACES[at]} was founded in {1500 + at}.")

    return [
        Group(
            f"When was the tannery of {place} founded?",
            (founded(at),),
            (founded(at - 1), Passage("", f"{place} is a town on a river.")),
            (founded(at - 2),),
        )
        for at, place in enumerate(PLACES)
    ]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], tuning.Run]:
    """Runs of four short steps, by the name of their folder, with a checkpoint after each step."""
    monkeypatch.setattr(tuning, "CHECKPOINT_STEPS", 1)
    monkeypatch.setattr(tuning, "QUESTIONS", 6)
    torch.set_num_threads(1)
    return lambda name: tuning.Run(tmp_path / name, BUNDLED_JUDGE, groups(), 2, 0)


class Killed(BaseException):
    """What a run is cut off with."""


def cut_off_after(steps: int) -> Callable[[int], None]:
    left = [steps + 1]  # the first call says how many were done before

    def progress(done: int) -> None:
        left[0] -= 1
        if not left[0]:
            raise Killed

    return progress


def weights(judge: Judge) -> dict[str, np.ndarray]:
    return {name: value.detach().numpy().copy() for name, value in judge.named_parameters()}


def test_a_run_that_was_cut_off_ends_with_the_weights_of_one_that_was_not(run: Callable[[str], tuning.Run]) -> None:
    whole = weights(run("whole").trained(lambda done: None))
    with pytest.raises(Killed):
        run("cut").trained(cut_off_after(2))
    resumed = weights(run("cut").trained(lambda done: None))
    assert all(np.array_equal(whole[name], resumed[name]) for name in whole)
    log = (run("cut").folder / "log.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["step"] for line in log] == [1, 2, 3, 4]
    before = floats_of(BUNDLED_JUDGE / "onnx/model.onnx")
    assert not np.array_equal(whole["verdicts.weight"], before["verdicts.weight"].numpy())
    assert np.array_equal(whole[tuning.WORDS], before[tuning.WORDS].numpy())


def test_a_full_disk_leaves_the_last_checkpoint(
    run: Callable[[str], tuning.Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Killed):
        run("full").trained(cut_off_after(1))
    checkpoint = run("full").folder / "checkpoint.pt"
    kept = checkpoint.read_bytes()

    def full(self: Path, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device", str(self))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        run("full").trained(lambda done: None)
    monkeypatch.undo()
    assert checkpoint.read_bytes() == kept
    assert sorted(file.name for file in checkpoint.parent.iterdir()) == ["checkpoint.pt", "log.jsonl"]


def test_a_damaged_checkpoint_is_told(run: Callable[[str], tuning.Run]) -> None:
    run("damaged").folder.mkdir()
    (run("damaged").folder / "checkpoint.pt").write_bytes(b"nonsense")
    with pytest.raises(ModelError, match="is damaged; remove it"):
        run("damaged").trained(lambda done: None)


def test_the_exported_judge_reads_as_the_one_it_was_made_from(run: Callable[[str], tuning.Run], tmp_path: Path) -> None:
    one = run("export")
    judge = Judge(one.config)
    judge.load_state_dict(floats_of(BUNDLED_JUDGE / "onnx/model.onnx"))
    _write(tmp_path / "judge", one, exported(judge.eval(), one.config, one.sample()))
    pairs = [(group.question, passage.text) for group in groups() for passage in (*group.relevant, *group.irrelevant)]
    read = [
        [reader.read(question, [text])[0].relevance for question, text in pairs]
        for reader in (BundledJudge(), BundledJudge(tmp_path / "judge"))
    ]
    assert np.corrcoef(read)[0, 1] > 0.99


class Leaning(Body):
    """A body that adds something to the attention between two tokens, as MPNet does."""

    near: torch.Tensor

    def forward(self, ids: torch.Tensor, types: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        hidden, size = self.embeddings(ids, types), ids.shape[1]
        for layer in self.encoder["layer"]:
            hidden = layer(hidden, self.near[:, :, :size, :size])
        return hidden


def test_what_is_added_to_the_attention_is_in_the_exported_file(
    run: Callable[[str], tuning.Run], tmp_path: Path
) -> None:
    one = run("leaning")
    body = Leaning(one.config)
    at = torch.arange(MAX_TOKENS)
    body.near = -(at[None, :] - at[:, None]).abs().repeat(1, one.config["num_attention_heads"], 1, 1) / 8
    judge = Judge(one.config, body)
    judge.load_state_dict(floats_of(BUNDLED_JUDGE / "onnx/model.onnx"))
    judge.eval()
    read: dict[str, list[float]] = {"float": [], "exported": [], "without": []}
    for pair in one.sample():
        with torch.no_grad():
            batch = padded([pair])
            read["float"].append(float(judge(batch.ids, batch.types, batch.mask)[0][0, 0]))
    for name, near in (("exported", body.near.numpy()), ("without", None)):
        file = tmp_path / f"{name}.onnx"
        file.write_bytes(exported(judge, one.config, one.sample(), near))
        session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
        for pair in one.sample():
            inputs = {"input_ids": [pair.ids], "attention_mask": [[1] * len(pair.ids)], "token_type_ids": [pair.types]}
            (logits,) = session.run(["logits"], {key: np.array(values) for key, values in inputs.items()})
            read[name].append(float(logits[0, 0]))
    far = {name: np.abs(np.array(values) - read["float"]).mean() for name, values in read.items()}
    assert far["exported"] < 0.2 < far["without"]


def test_a_judge_that_is_not_better_is_not_installed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a hundred towns, each with its own document: the bundled judge makes no mistake that could be learned from."""
    endings = ("", "dorf", "heim", "stadt", "au", "ow", "by", "ton", "ey", "ix")
    towns = [f"{place}{ending}" for place in PLACES for ending in endings]
    (tmp_path / "in").mkdir()
    rows = []
    for at, town in enumerate(towns):
        (tmp_path / "in" / f"{town}.txt").write_text(f"The tannery of {town} was founded in {1500 + at} by a widow.")
        rows.append({"question": f"When was the tannery of {town} founded?", "answers": [str(1500 + at)]})
    labels = tmp_path / "labels.jsonl"
    labels.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with thresher.open(tmp_path / "home") as collection:
        collection.add(tmp_path / "in", recipe="corrective")
    with pytest.raises(SystemExit) as caught:
        main(["train-judge", "--home", str(tmp_path / "home"), "--epochs", "1", str(labels)])
    assert caught.value.code == 0
    told = capsys.readouterr().out
    assert "60 questions to train, 20 questions to tune, 20 held out" in told
    assert "no significant gain on the held-out questions: the judge was not replaced" in told
    assert not (tmp_path / "home" / "judges").exists()
    (report,) = (tmp_path / "home").rglob("report.json")
    assert json.loads(report.read_text(encoding="utf-8"))["installed"] is None
    assert [file.name for file in report.parent.iterdir() if file.is_dir() or file.suffix == ".pt"] == []


# --- contrasts of research.train --------------------------------------------------------------------------------------

RIGHT, EXCHANGED, BODY = 7, 8, 9
"""The first token of a question, of an exchanged one, and the tokens of texts."""


def pack(part: str, pairs: int = 6, text: int = 300) -> dict[str, Any]:
    """Pairs over one long text of which token 250 answers."""
    texts = [[RIGHT, 20], [EXCHANGED, 20], [], [BODY] * text]
    one = np.ones((pairs, 1), np.int32)
    return {
        "tokens": np.array([token for ids in texts for token in ids], np.uint16),
        "ends": np.cumsum([0, *map(len, texts)]),
        "pairs.question": one * [[0, 0]],
        "pairs.exchanged": one * [[1, 1]],
        "pairs.text": one * [[2, 3]],
        "pairs.spans": np.full((pairs, 1, 2), 250, np.int16),
        "pairs.kind": np.array(["word"] * pairs),
        "pairs.part": np.array([part] * pairs),
    }


class Scripted(torch.nn.Module):
    """Says one logit of right questions and another of exchanged ones, and nothing of places."""

    def __init__(self, right: float, exchanged: float) -> None:
        super().__init__()
        self.said = torch.nn.Parameter(torch.tensor([right, exchanged]))

    def forward(self, ids: Any, types: Any, mask: Any) -> tuple[Any, Any]:
        logits = torch.where(ids[:, 1] == RIGHT, self.said[0], self.said[1])
        return logits[:, None].expand(-1, 3), self.said.sum() * torch.zeros(*ids.shape, 2)


def softplus(value: float) -> float:
    return math.log1p(math.exp(value))


def test_both_questions_of_a_pair_are_read_with_the_same_window_that_holds_the_answer() -> None:
    rows = Contrasts(pack("train"), most=100).draw(np.random.default_rng(1), 4)
    assert rows.question.tolist() == [0] * 4 + [1] * 4
    assert rows.start[:4].tolist() == rows.start[4:].tolist()
    layout = rows.layout(QUESTION_TOKENS)
    assert layout.lengths.max() <= 100
    assert (layout.spans[:4, 0, 0] >= 0).all()
    assert (layout.spans[4:] == -1).all()


@pytest.mark.parametrize(("right", "exchanged"), [(3.0, -2.0), (2.0, 2.0), (-1.0, 1.0)])
def test_the_contrast_is_the_order_by_a_margin_and_each_alone(right: float, exchanged: float) -> None:
    of = pack("train")
    judge = Scripted(right, exchanged)
    found = contrast_loss(judge, Tokens(of, torch.device("cpu")), Contrasts(of), np.random.default_rng(1), 5)
    assert found["contrast"].item() == pytest.approx(softplus(MARGIN - (right - exchanged)), rel=1e-5)
    assert found["contrast binary"].item() == pytest.approx((softplus(-right) + softplus(exchanged)) / 2, rel=1e-5)
    torch.stack(list(found.values())).sum().backward()
    assert judge.said.grad is not None
    assert judge.said.grad[0] < 0 < judge.said.grad[1]


def test_pairs_that_are_not_trained_on_are_measured() -> None:
    of = pack("title")
    judge = Scripted(1.0, -1.0)
    found = tuned(judge, Tokens(of, torch.device("cpu")), Measured(of, None))["contrasts"]
    assert found["all"] == found["word"] == found["title"] == [6, 1.0, 1.0, 1.0, -1.0]


def claims(**options: Any) -> Claims:
    """Two groups of contrasts of three and five claims, and four claims of their own."""
    labels = [1, 2, 0, 1, 1, 2, 3, 0, 1, 0, 1, 2]
    of = {
        "claims": np.zeros((12, 3), np.int32),
        "claims.label": np.array(labels, np.int8),
        "claims.tune": np.zeros(12, bool),
        "claims.source": np.array(["made value"] * 8 + ["sentence", "sentence", "nli_fever", "nli_fever"]),
        "claims.group": np.array([0] * 3 + [1] * 5 + [-1] * 4, np.int32),
        "claims.times": np.ones(12, np.float32),
        "ends": np.array([0, 3]),
    }
    return Claims(of, tune=False, **options)


@pytest.mark.parametrize("seed", range(5))
def test_both_sides_of_a_group_of_claims_are_read_in_one_step(seed: int) -> None:
    drawn = claims(grouped=0.5).draw(np.random.default_rng(seed), 12)
    assert len(drawn.labels) == len(drawn.rows.text) == 12
    assert (drawn.group >= 0).sum() in (6, 7)
    for number in set(drawn.group.tolist()) - {-1}:
        own = drawn.labels[drawn.group == number]
        assert (own == 1).any()
        assert (own != 1).any()


def test_without_a_share_claims_are_drawn_one_by_one() -> None:
    assert claims().draw(np.random.default_rng(1), 12).group.tolist() == [-1] * 12


def test_a_supported_claim_has_to_be_above_the_others_of_its_group_alone() -> None:
    verdicts = torch.tensor([[2.0, -9.0], [0.5, -9.0], [9.0, -9.0]], requires_grad=True)
    lost = ranked_loss(verdicts, torch.tensor([True, False, False]), torch.tensor([0, 0, -1]))
    assert lost.item() == pytest.approx(softplus(0.5 - 2.0), rel=1e-3)
    lost.backward()
    assert verdicts.grad is not None
    assert verdicts.grad[0, 0] < 0 < verdicts.grad[1, 0]
    assert verdicts.grad[2].tolist() == [0, 0]
