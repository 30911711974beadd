"""The whole way of the teacher on a machine that has an accelerator and no network, a stage at a time.

Here, with the weights of `research.teacher.weights` and a pack of `research.train.pack`:

    python -m research.teacher.walk prepare --teacher teacher --pack pack.npz --out research/.cache/walk

writes `load-1`, `load-2` .. of at most `LOAD_BYTES`, one for each time that the machine is sent something; the first
has the code. There, with all of them beside each other:

    cd load-1/code && PYTHONPATH=src:packages/thresher-training/src python -m research.teacher.walk run --minutes 9.5

A stage whose result is there is not run again, and a training that was cut off goes on from its checkpoint: the same
command is given until it prints `all stages are done`. The last stage compares what was trained with what is bundled.
What was made is carried back in parts, and put together here:

    python -m research.teacher.walk back --part 1 --to FOLDER
    python -m research.teacher.walk join FOLDER FOLDER .. --out research/.cache/walk/results
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
LOAD_BYTES = 60_000_000
PART_FILES, PART_BYTES, PIECE_BYTES = 8, 60_000_000, 15_000_000
"""Of what is carried back at once."""
CODE = ("research", "src/thresher", "packages/thresher-training/src")
JUDGE, CHECKER = (f"src/thresher/models/weights/thresher-{name}-int8" for name in ("judge", "checker"))
MANIFEST = "manifest.json"
UNLIKE = "unlike the float network"

SHARES = {"replay": 0.2, "mined": 0.2, "pages": 0.2, "related": 0.05, "reader": 0.25, "people": 0.1}
OPTIONS: dict[str, Any] = {
    "shares": SHARES,
    "teacher": ["--rate", "3e-5", "--steps", "5000", "--seconds", "480", "--doubtful-at", "0.35"],
    "student": ["--rate", "1.5e-4", "--steps", "5000", "--seconds", "420", "--doubtful-at", "0.35"],
    "checker": ["--rate", "1.5e-4", "--steps", "5000", "--seconds", "240", "--by-people", "0.3"],
}
"""Arguments of the three trainings."""
TINY = ["--steps", "2", "--questions", "2", "--claims", "4", "--tune-every", "2"]
TINY_ROWS, TINY_WIDTH = 6, 48
"""Questions of each stream and claims of a rehearsal, and the width of its teacher, of two layers."""

RESAMPLED, INTERVAL = 10_000, (2.5, 97.5)
"""Bootstrap over questions, and the percentiles of its interval."""
MEASURED = ("manuals", "papers")
LEAST_AREA_CHANGE = -0.01
"""Of the area under the curve of a source of claims: runs with the same data differ by more than half of it."""


class CannotWalk(RuntimeError):
    """What is there is not what is needed."""


def sha256(path: Path) -> str:
    """Hexadecimal SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --- before -----------------------------------------------------------------------------------------------------------


def prepare(teacher: Path, pack: Path, out: Path, *, tiny: bool) -> None:
    """Write the loads."""
    shutil.rmtree(out, ignore_errors=True)
    first = out / "load-1"
    code = first / "code"
    for name in CODE:
        ignored = shutil.ignore_patterns("__pycache__", "weights", "results", ".cache", "*.egg-info")
        shutil.copytree(ROOT / name, code / name, ignore=ignored)
    for name in (JUDGE, CHECKER):
        shutil.copytree(ROOT / name, code / name)
    files = out / "files"
    files.mkdir()
    with np.load(pack) as file:
        rows = dict(file)
    np.savez_compressed(files / "pack.npz", allow_pickle=False, **(thinned(rows) if tiny else rows))
    if tiny:
        tiny_teacher(teacher, files)
    else:
        for path in teacher.iterdir():
            shutil.copy(path, files)
    names = sorted(path.name for path in files.iterdir())
    options = {name: [*given, *TINY] if tiny and name != "shares" else given for name, given in OPTIONS.items()}
    manifest = {"tiny": tiny, "options": options, "files": {name: sha256(files / name) for name in names}}
    (first / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    left = LOAD_BYTES - sum(path.stat().st_size for path in first.rglob("*") if path.is_file())
    number = 1
    for name in sorted(names, key=lambda name: -(files / name).stat().st_size):
        size = (files / name).stat().st_size
        if size > LOAD_BYTES:
            raise CannotWalk(f"{name} has {size:,} bytes, a load at most {LOAD_BYTES:,}: pack fewer rows")
        if size > left:
            number, left = number + 1, LOAD_BYTES
        load = out / f"load-{number}"
        load.mkdir(exist_ok=True)
        shutil.move(files / name, load / name)
        left -= size
    files.rmdir()
    for load in sorted(out.iterdir()):
        print(f"{load.name}: {sum(path.stat().st_size for path in load.rglob('*') if path.is_file()):,} bytes")


def thinned(pack: Mapping[str, Any]) -> dict[str, Any]:
    """The pack with a few rows of each stream."""
    found = dict(pack)
    for part in ("train", "tune"):
        streams = pack[f"{part}.stream"]
        kept = np.concatenate([np.flatnonzero(streams == name)[:TINY_ROWS] for name in np.unique(streams)])
        found |= {key: pack[key][kept] for key in pack if key.startswith(f"{part}.")}
    sides = (np.flatnonzero(pack["claims.tune"] == side)[: 4 * TINY_ROWS] for side in (False, True))
    kept = np.concatenate(list(sides))
    found |= {key: pack[key][kept] for key in pack if key.startswith("claims")}
    return found | {key: pack[key][:TINY_ROWS] for key in pack if key.startswith("unlabelled.")}


def tiny_teacher(teacher: Path, out: Path) -> None:
    """A teacher of two narrow layers, of weights that are chance."""
    import torch

    from research.teacher.network import MPNet

    config = json.loads((teacher / "config.json").read_text(encoding="utf-8"))
    config |= {"hidden_size": TINY_WIDTH, "intermediate_size": 2 * TINY_WIDTH, "num_hidden_layers": 2}
    config["num_attention_heads"] = 4
    (out / "config.json").write_text(json.dumps(config), encoding="utf-8")
    torch.manual_seed(0)
    state = MPNet(config).state_dict()
    np.savez(out / "weights-1.npz", allow_pickle=False, **{name: one.numpy() for name, one in state.items()})


# --- there ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stage:
    """A step of the way: its name, the minutes that it is expected to take, what runs it and what it leaves."""

    name: str
    minutes: float
    run: Callable[[float], None]
    """Given the seconds that are left."""
    result: Path


def stages(loads: Path) -> list[Stage]:
    """The way, with the files of the loads in one folder."""
    manifest = json.loads((loads / "load-1" / MANIFEST).read_text(encoding="utf-8"))
    options, here, made = manifest["options"], loads / "here", loads / "made"
    teacher, pack, scores = ("--teacher", str(here)), ("--pack", str(here / "pack.npz")), made / "scores.npz"
    shares, large = ("--shares", json.dumps(options["shares"])), made / "large"
    trained, taught = ("--run", str(made / "teacher.pt")), ("--taught", str(scores))

    def training(name: str, *more: str) -> Callable[[float], None]:
        def run(seconds: float) -> None:
            out = made / name
            needed("research.train", *pack, "--out", str(out), *more, *options[name], seconds=seconds)
            shutil.copy(newest(out), made / f"{name}.pt")

        return run

    def score(seconds: float) -> None:
        needed("research.teacher.scores", *teacher, *trained, *pack, "--out", str(scores), seconds=seconds)

    def export(seconds: float) -> None:
        alike = python("research.teacher.export", *teacher, *trained, *pack, "--out", str(large), seconds=seconds)
        (made / "exported").write_text("as the float network" if alike else UNLIKE, encoding="utf-8")

    return [
        Stage("check", 0.5, lambda _: gather(loads, manifest), here / "checked"),
        Stage("teacher", 9, training("teacher", *teacher, *shares), made / "teacher.pt"),
        Stage("score", 2, score, scores),
        Stage("student", 8, training("student", *shares, *taught), made / "student.pt"),
        Stage("checker", 5, training("checker", "--questions", "0", *taught), made / "checker.pt"),
        Stage("export", 3, export, made / "exported"),
        Stage("gates", 1, lambda _: gates(here, made), made / "gates.json"),
    ]


def gather(loads: Path, manifest: Mapping[str, Any]) -> None:
    """Link the files of all loads in one folder, each held to the bytes that were packed, the weights to their hash."""
    from research.teacher.weights import PIECES

    here = loads / "here"
    here.mkdir(exist_ok=True)
    for name, known in manifest["files"].items():
        if not (found := [*loads.glob(f"load-*/{name}")]):
            raise CannotWalk(f"{name} has not arrived: send its load")
        if sha256(found[0]) != known or (not manifest["tiny"] and PIECES.get(name, known) != known):
            raise CannotWalk(f"{found[0]}: other bytes than those that were packed")
        (here / name).unlink(missing_ok=True)
        (here / name).symlink_to(found[0].resolve())
    (here / "checked").touch()


def python(module: str, *arguments: str, seconds: float) -> bool:
    """Run a module, at most so long; whether it ended well."""
    return not subprocess.run((sys.executable, "-m", module, *arguments), check=False, timeout=seconds).returncode


def needed(module: str, *arguments: str, seconds: float) -> None:
    """Run a module that nothing goes on without."""
    if not python(module, *arguments, seconds=seconds):
        raise CannotWalk(f"{module} failed: see above")


def newest(run: Path) -> Path:
    """The mean of the last step."""
    return max(run.glob("mean-*.pt"), key=lambda path: int(path.stem.partition("-")[2]))


def walk(loads: Path, minutes: float) -> int:
    """Run the stages that are left; 2 where the time ended before them."""
    ends = time.monotonic() + 60 * minutes
    way = stages(loads)
    (loads / "made").mkdir(exist_ok=True)
    print(f"{sum(one.minutes for one in way if not one.result.exists()):g} minutes are expected to be left", flush=True)
    for stage in way:
        if stage.result.exists():
            continue
        left = ends - time.monotonic()
        began = time.monotonic()
        print(f"{stage.name}: {stage.minutes:g} minutes expected", flush=True)
        try:
            stage.run(max(left, 1))
        except subprocess.TimeoutExpired:
            print(f"{stage.name}: cut off; the same command goes on", flush=True)
            return 2
        print(f"{stage.name}: done in {(time.monotonic() - began) / 60:.1f} minutes", flush=True)
    print("all stages are done")
    return 0


# --- gates ------------------------------------------------------------------------------------------------------------


def gates(here: Path, made: Path) -> None:
    """Compare teacher and student with the bundled judge, and the checker with the bundled one; write what may ship."""
    import torch

    from research.teacher.network import teacher
    from research.train.__main__ import started
    from research.train.batches import Claims, Tokens
    from research.train.tune import of_claims, ranks

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    with np.load(here / "pack.npz") as file:
        pack = dict(file)
    tokens, claims = Tokens(pack, device), Claims(pack, tune=True)

    def bundled(name: str, run: Path | None = None) -> Any:
        judge = started(ROOT / name / "onnx/model.onnx")
        if run:
            judge.load_state_dict(torch.load(run, map_location="cpu"), strict=False)
        return judge.to(device).eval()

    before = ranks(bundled(JUDGE), tokens, pack)
    found: dict[str, Any] = {
        "large": of_ranks(before, ranks(teacher(here, made / "teacher.pt").to(device), tokens, pack)),
        "student": of_ranks(before, ranks(bundled(JUDGE, made / "student.pt"), tokens, pack)),
        "checker": of_areas(
            of_claims(bundled(CHECKER), tokens, claims),
            of_claims(bundled(JUDGE, made / "checker.pt"), tokens, claims),
        ),
    }
    if (made / "exported").read_text(encoding="utf-8") == UNLIKE:
        found["large"] |= {"ships": False, "against": [*found["large"]["against"], f"the int8 graph is {UNLIKE}"]}
    (made / "gates.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for name, one in found.items():
        print(f"{name}: {'ships' if one['ships'] else 'does not ship'}")
        for kind, row in one["rows"].items():
            print(f"  {kind}: {row}")
        for reason in one["against"]:
            print(f"  against: {reason}")


def of_ranks(before: Mapping[str, Sequence[int]], after: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """First and among three of each kind, and the interval of what the first places gain.

    It ships when manuals and papers together gain more than their interval, manuals lose nothing, neither first nor
    among three, and no kind loses more than its interval.
    """
    pairs = {kind: (np.array(before[kind]), np.array(after[kind])) for kind in sorted(before)}
    together = [pairs[kind] for kind in MEASURED if kind in pairs]
    old, new = (np.concatenate(side) for side in zip(*together, strict=True))
    pairs["manuals and papers"] = (old, new)
    rows, against = {}, []
    for kind, (old, new) in pairs.items():
        gain, low, high = interval((new == 0).astype(int) - (old == 0))
        first, three = ([int((side < most).sum()) for side in (old, new)] for most in (1, 3))
        rows[kind] = {"of": len(old), "first": first, "three": three, "gain": gain, "interval": [low, high]}
        if high < 0 and not kind.startswith("held back "):
            against.append(f"{kind} loses {-gain} first places, interval {low} to {high}")
        if kind == "manuals" and (gain < 0 or three[1] < three[0]):
            against.append("manuals lose")
        if kind == "manuals and papers" and low <= 0:
            against.append(f"the gain of {gain} is within its interval, {low} to {high}")
    return {"ships": not against, "rows": rows, "against": against}


def interval(gains: Any) -> tuple[int, float, float]:
    """Sum of the gains, and the interval of it when questions are drawn again."""
    draw = np.random.default_rng(0)
    sums = draw.choice(gains, (RESAMPLED, len(gains))).sum(axis=1)
    low, high = np.percentile(sums, INTERVAL)
    return int(gains.sum()), float(low), float(high)


def of_areas(before: Mapping[str, Sequence[float]], after: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """Of each source of claims: how many, supported that are found, others accepted, area under the curve."""
    rows, against = {}, []
    for source, old in before.items():
        new = after[source]
        rows[source] = {"before": list(old), "after": list(new)}
        if new[3] - old[3] < LEAST_AREA_CHANGE:
            against.append(f"{source}: area {old[3]} before, {new[3]} after")
    if "same passage" in rows and after["same passage"][2] >= before["same passage"][2]:
        against.append("as many errors of the same passage are accepted as before")
    return {"ships": not against, "rows": rows, "against": against}


# --- and back ---------------------------------------------------------------------------------------------------------


def results(loads: Path) -> Iterator[Path]:
    """What is carried back."""
    made = loads / "made"
    yield from (made / "gates.json", made / "student.pt", made / "checker.pt", *sorted(made.glob("*/log.jsonl")))
    yield from sorted(path for path in (made / "large").rglob("*") if path.is_file())


def back(loads: Path, part: int, to: Path) -> int:
    """Write a part of the results as pieces, whose names say of what they are; 1 where there is no such part."""
    parts: list[list[tuple[Path, str, int]]] = [[]]
    left = PART_BYTES
    for path in results(loads):
        name = str(path.relative_to(loads / "made")).replace("/", "__")
        for at, start in enumerate(range(0, path.stat().st_size, PIECE_BYTES)):
            size = min(PIECE_BYTES, path.stat().st_size - start)
            if len(parts[-1]) == PART_FILES or size > left:
                parts.append([])
                left = PART_BYTES
            parts[-1].append((path, f"{name}.{at:03}", start))
            left -= size
    if part > len(parts):
        print(f"there are {len(parts)} parts")
        return 1
    to.mkdir(parents=True, exist_ok=True)
    for path, name, start in parts[part - 1]:
        with path.open("rb") as file:
            file.seek(start)
            (to / name).write_bytes(file.read(PIECE_BYTES))
    print(f"part {part} of {len(parts)}: {len(parts[part - 1])} pieces")
    return 0


def join(folders: Sequence[Path], out: Path) -> None:
    """Put pieces together; the exported model is held to the hash in its README."""
    shutil.rmtree(out, ignore_errors=True)
    for piece in sorted((path for folder in folders for path in folder.iterdir()), key=lambda path: path.name):
        target = out / piece.name.rpartition(".")[0].replace("__", "/")
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("ab") as file:
            file.write(piece.read_bytes())
    model = out / "large/onnx/model.onnx"
    if sha256(model) not in (out / "large/README.md").read_text(encoding="utf-8"):
        raise CannotWalk(f"{model}: not the bytes that were exported; a piece is missing")
    for path in sorted(out.rglob("*")):
        if path.is_file():
            print(f"{path.relative_to(out)}: {path.stat().st_size:,} bytes")


def main() -> int:
    """Prepare, run, or carry back."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("prepare", help="write the loads")
    one.add_argument("--teacher", type=Path, required=True, help="what research.teacher.weights wrote")
    one.add_argument("--pack", type=Path, required=True, help="what research.train.pack wrote, with --unlabelled")
    one.add_argument("--out", type=Path, required=True)
    one.add_argument("--tiny", action="store_true", help="a rehearsal on a processor: few rows, two steps")
    one = commands.add_parser("run", help="run the stages that are left")
    one.add_argument("--loads", type=Path, default=ROOT.parents[1], help="where the loads lie")
    one.add_argument("--minutes", type=float, required=True, help="end by then")
    one = commands.add_parser("back", help="write a part of the results, in pieces")
    one.add_argument("--loads", type=Path, default=ROOT.parents[1])
    one.add_argument("--part", type=int, required=True)
    one.add_argument("--to", type=Path, required=True)
    one = commands.add_parser("join", help="put pieces together")
    one.add_argument("folders", type=Path, nargs="+")
    one.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    match given.command:
        case "prepare":
            prepare(given.teacher, given.pack, given.out, tiny=given.tiny)
        case "run":
            return walk(given.loads, given.minutes)
        case "back":
            return back(given.loads, given.part, given.to)
        case "join":
            join(given.folders, given.out)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except CannotWalk as error:
        sys.exit(str(error))
