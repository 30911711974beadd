"""Questions to manuals and papers: texts that exist for their own sake, not written to be asked about."""
