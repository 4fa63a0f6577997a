"""Who may do what: scope, safety rules, tool policy, mode and grants give each call its verdict and its reason.

Rule: pure, and the strictest verdict wins. Commands and paths are judged here; nothing here runs or opens them.
"""
