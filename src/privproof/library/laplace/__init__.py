"""Mechanisms with Laplace and exponential noise: the literature's, right and wrong, written in the mechanism language."""
