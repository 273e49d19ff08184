"""Contours of images: gradients of brightness, colour and texture, combined by eigenvectors of affinities."""
