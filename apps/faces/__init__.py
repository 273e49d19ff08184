"""Similarity search among descriptors of faces."""
