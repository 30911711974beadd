"""Changed inputs for whatever reads what strangers write: `make fuzz`."""
