"""`thresher eval report`: runs and studies on one page."""
