"""The question set of the answer: 150 questions to papers, office files and look-alike documents, judged by hand."""
