"""Applications: programs of the kind that run-time code generation for GPUs was made for, each checking itself.

``python -m apps.NAME --check`` compares with an oracle, ``--bench`` measures, ``--plot out.png`` draws; see
docs/applications.md.
"""
