"""Whole projects: what the configuration says, which mechanisms files and folders hold; nothing of them is run here."""
