"""Mechanisms as they stand in ordinary code: files that nobody wrote for a verifier."""
