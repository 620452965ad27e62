"""Ready mechanisms, each with its citation; imports `models` and `scenarios`."""
