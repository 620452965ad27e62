"""The one drawing library: SVG text from numbers and names, for light and dark pages.

Imports nothing of privproof, and is imported by whoever draws: `formats` (models) and `reporting` (verdicts).
"""
