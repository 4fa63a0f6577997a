"""Perdure: AI agents that outlive their processes, on Temporal."""

__version__ = "0.1.0"
