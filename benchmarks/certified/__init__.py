"""Does the certified bound hold: labels drawn at random, the true share of wrong answers, and deliberate shifts."""
