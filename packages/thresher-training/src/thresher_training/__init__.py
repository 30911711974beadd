"""Trains the bundled judge further: labels, the network in torch, the int8 file. Needs the extra `training`."""
