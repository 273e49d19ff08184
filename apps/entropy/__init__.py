"""Entropy of images by nearest neighbours of their patches."""
