"""Mechanisms that keep few noisy numbers, at one size: delta for all neighbours, by integrals over registers."""
