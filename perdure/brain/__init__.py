"""The decisions: a state and what just happened go in, plain data that says what to do next comes out.

Rule: total, synchronous and pure. No clock, no handles, no Temporal; the same input gives the same answer for ever.
"""
