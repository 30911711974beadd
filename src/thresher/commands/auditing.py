"""`thresher eval audit`: published claims, computed again."""

from __future__ import annotations

from thresher import printing
from thresher.commands.evals import eval_app
from thresher.commands.options import AsJson


@eval_app.command("audit")
def eval_audit(json: AsJson = False) -> None:
    """Compute the claims of the published methods again from the numbers they print: claim, recomputed, verdict."""
    from thresher.evals.auditing.audit import COLUMNS, audit, rows, summary, told

    findings = audit()
    if json:
        printing.as_json({"summary": summary(findings), "claims": [finding.to_dict() for finding in findings]})
        return
    printing.table("claims of the sources", COLUMNS, rows(findings))
    printing.say(told(findings))
