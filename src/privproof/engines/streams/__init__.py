"""Mechanisms that compare a stream of noisy values with noisy thresholds."""
