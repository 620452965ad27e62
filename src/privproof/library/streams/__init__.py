"""Mechanisms on streams without end, as functions and as automata, right and wrong."""
