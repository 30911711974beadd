"""Claims that differ in what decides, over the same text: `python -m research.claim_contrasts --out FILE`."""
