"""Chains and processes with the formulas that are known of them."""
