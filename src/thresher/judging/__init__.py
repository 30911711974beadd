"""What retrieved chunks are worth: scorers, thresholds, verdicts, calibration."""
