"""Whether what was written holds: claims against the documents they rest on."""
