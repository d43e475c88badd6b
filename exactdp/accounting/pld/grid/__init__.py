"""Measures on a grid of losses that bound the privacy curve of one step from both sides."""
