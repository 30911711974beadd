"""From hits to evidence: strips, redundancy, order and budget, contradictions."""
