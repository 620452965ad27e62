"""The engine of separate draws: the loss of an output is the sum of the losses of its parts."""
