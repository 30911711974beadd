"""PDF, read by PDFium: `reader` makes the document of what the other files find on its pages."""
