"""Rules about language, shared by all rooms; the only folder that says what a sentence, a number or a denial is."""
