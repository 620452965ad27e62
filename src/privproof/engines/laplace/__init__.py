"""Mechanisms with continuous noise."""
