"""The engine that runs functions as they are: on every data set, on every random choice."""
