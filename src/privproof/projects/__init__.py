"""Whole projects: what the configuration says, which mechanisms files and folders hold, commands that others run on them."""
