"""Structured output: taggers of sequences, and any structure that can be decoded."""
