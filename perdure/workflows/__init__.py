"""The durable run: the loop, its executors, inbox, children and continue-as-new.

Rule: deterministic. No provider, no activity code, no HTTP is imported; only names and types from contracts are shared.
"""
