"""Checking questions about locations; imports what the rest of the checker does."""
