from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import thresher
from thresher.cli.app import main
from thresher.errors import UsageError
from thresher.judging.calibration import SHIPPED
from thresher.judging.scorers import JUDGE_FILE, LogOdds, TunedJudge
from thresher.models.cross_encoders import BUNDLED_JUDGE
from thresher_training.labels import Labelled, Passage
from thresher_training.train_judge import NEGATIVES, grouped


def passages(*texts: str) -> tuple[Passage, ...]:
    return tuple(Passage("", text) for text in texts)


# --- negatives of the collection's own retrieval ----------------------------------------------------------------------


def test_what_holds_an_answer_as_words_is_relevant_and_the_rest_found_is_not() -> None:
    found = passages("It was built in 1531, they say.", "Room 15310 is upstairs.", "Nobody knows.")
    group = grouped(Labelled("When was it built?", answers=("1531",)), found)
    assert (group.relevant, group.irrelevant) == (found[:1], found[1:])


def test_what_was_found_and_not_labelled_is_taken_not_to_answer_but_for_copies_of_what_was() -> None:
    labelled = passages("The lighthouse was built by monks in 1531.")
    copy = passages("In 1531 the lighthouse was built by monks, and rebuilt later.")
    found = passages(*(f"Cheese number {at} ripens in a cellar" for at in range(NEGATIVES + 2)))
    group = grouped(Labelled("Who built it?", labelled), (*copy, *found))
    assert group.relevant == labelled
    assert group.irrelevant == found[:NEGATIVES]
    assert group.others == found[NEGATIVES:]


def test_where_nothing_answers_all_that_is_found_does_not() -> None:
    found = passages("a b c", "d e f")
    assert grouped(Labelled("Why?"), found).irrelevant == found


def test_where_only_wrong_passages_are_labelled_nobody_knows_of_the_others() -> None:
    found = passages("a b c", "d e f")
    group = grouped(Labelled("Why?", irrelevant=passages("x")), found)
    assert (group.irrelevant, group.others) == (passages("x"), found)


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with two short documents and a judge of other log odds than the bundled one."""
    home = tmp_path_factory.mktemp("home")
    (home / "barn.txt").write_text("The barn was built by Ann Fielding in 1531. It is red.", encoding="utf-8")
    (home / "cheese.txt").write_text("Cheese ripens in a cellar for a year.", encoding="utf-8")
    with thresher.open(home) as collection:
        collection.add(home / "barn.txt", home / "cheese.txt", recipe="corrective")
    shutil.copytree(BUNDLED_JUDGE, home / "judge")
    shipped = SHIPPED["trained"].to_dict() | {"judge": "barns-1", "upper": 0.01, "lower": 0.001}
    odds = {"logit": 0.0, "intercept": 1.0}
    (home / "judge" / JUDGE_FILE).write_text(json.dumps({"odds": odds, "calibration": shipped}), encoding="utf-8")
    return home


def test_a_judge_that_was_trained_further_judges_with_its_own_weights_and_bounds(home: Path) -> None:
    with thresher.open(home) as collection:
        given = {"judge_model": str(home / "judge")}
        usual = collection.search("Who built the barn?", settings={"judge": "trained"}, recipe="crag")
        own = collection.search("Who built the barn?", settings={"judge": "trained", **given}, recipe="crag")
        answer = collection.ask("Who built the barn?", settings=given)
    scores = [{hit.scores[name].value for hit in result.hits for name in hit.scores} for result in (usual, own)]
    assert scores[0] != scores[1]
    assert answer.verdict is not None
    assert answer.verdict.value == "correct"
    assert TunedJudge.read(home / "judge").odds == LogOdds(0.0, 1.0)


def test_a_folder_that_holds_no_judge_is_told(home: Path) -> None:
    with thresher.open(home) as collection, pytest.raises(UsageError, match="holds no trained judge"):
        collection.ask("Who built the barn?", settings={"judge_model": str(home)})


def test_without_torch_the_command_says_what_to_install(home: Path) -> None:
    code = (
        "import sys; sys.modules['torch'] = sys.modules['onnx'] = None\n"
        f"from thresher.cli.app import main; main(['train-judge', '--home', {str(home)!r}, 'labels.jsonl'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "is not installed; in a checkout: pip install ./packages/thresher-training" in done.stderr
    assert done.returncode == 1


def test_a_collection_that_holds_nothing_is_told_before_anything_is_loaded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["train-judge", "--home", str(tmp_path), "labels.jsonl"])
    assert caught.value.code == 1
    assert "holds no documents yet" in capsys.readouterr().err
