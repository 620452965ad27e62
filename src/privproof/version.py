"""The version, and nothing else: what commands say without loading the façade."""

__version__ = "0.3.0"
