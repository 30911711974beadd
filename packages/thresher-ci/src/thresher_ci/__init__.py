"""Which answers does a change break? Questions with expected answers, asked of two states of documents.

`knowledge` reads the file of expectations, `documents` makes the states, `asking` asks what a change can touch,
`outcome` says whether an expectation is met, `comparison` sorts the differences, `report` prints them.
"""
