"""The checker of certificates about mechanisms that read a stream; like the whole checker it shares no code with engines."""
