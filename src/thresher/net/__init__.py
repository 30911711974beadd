"""Requests over the network and the addresses that they may reach."""
