"""Work that outlasts a request: adding, re-reading and calibrating, kept in files and done by a few threads."""
