"""The claims audit: what the sources say, computed again from what they printed. Nothing in it is typed as a result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from thresher_evals.claims.claim import Claim, Finding, Outcome, recomputed
from thresher_evals.claims.claims import CLAIMS

COLUMNS = ("code", "source", "claim", "must be", "recomputed", "verdict")


def audit(claims: Iterable[Claim] = CLAIMS) -> list[Finding]:
    """Every claim computed again, in their order."""
    return [recomputed(claim) for claim in claims]


def summary(findings: Sequence[Finding]) -> dict[str, int]:
    """How many claims there are, how many came to which verdict, and how many of those that fail rounding may save."""
    counted = Counter(finding.outcome for finding in findings)
    rounded = sum(bool(finding.possible) for finding in findings if finding.outcome is Outcome.DISAGREES)
    return {
        "claims": len(findings),
        **{str(outcome): counted[outcome] for outcome in Outcome},
        "possible_before_rounding": rounded,
    }


def told(findings: Sequence[Finding]) -> str:
    """The summary as a sentence."""
    counts = summary(findings)
    return (
        f"{counts['claims']} claims: {counts[Outcome.AGREES]} agree, {counts[Outcome.DISAGREES]} do not "
        f"({counts['possible_before_rounding']} of them may have, before the printed numbers were rounded), "
        f"{counts[Outcome.UNKNOWN]} cannot be computed from what is printed."
    )


def rows(findings: Sequence[Finding]) -> list[tuple[str, ...]]:
    """A table of the findings under `COLUMNS`."""
    return [
        (
            finding.claim.code,
            finding.claim.source,
            finding.claim.says,
            finding.wanted,
            finding.arithmetic,
            finding.verdict,
        )
        for finding in findings
    ]


def markdown() -> str:
    """docs/audit.md."""
    findings = audit()
    lines = [
        "# Claims audit",
        "",
        "<!-- Made by thresher_evals.claims.audit.markdown(); `thresher eval audit` prints the same table. -->",
        "",
        "What the sources claim, computed again from the numbers that they print. A claim agrees when what is computed",
        "rounds to the claimed number. A printed number is itself rounded: where a claim does not agree, the last",
        "column says whether it may have for numbers that round to the printed ones. Codes continue those of",
        "[methods.md](methods.md), which has the readings that were chosen; V marks further claims.",
        "",
        told(findings),
        "",
        f"| {' | '.join(COLUMNS)} |",
        "|" + "---|" * len(COLUMNS),
        *(f"| {' | '.join(row)} |" for row in rows(findings)),
    ]
    return "\n".join(lines) + "\n"
