"""Structured perceptrons: outputs that have parts, such as the labels of a sentence's words."""
