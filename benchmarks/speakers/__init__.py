"""Chat models that are scripted to speak without fault or to lie, and the questions they are asked."""
