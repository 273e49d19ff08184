"""Filter banks of models of vision, tuned, and the screening of such models."""
