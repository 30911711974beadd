"""CRAG, ECRAG and ChunkRAG, the published methods, as a stranger would write them: registered by entry points.

Of Thresher it imports what `thresher.parts` says, and nothing else.
"""
