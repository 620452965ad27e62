"""From ``FILE[:NAME]`` and options to what is asked about; models are loaded without anything that reads functions."""
