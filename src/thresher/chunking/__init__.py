"""Documents to chunks: spans that reproduce the document's text exactly."""
