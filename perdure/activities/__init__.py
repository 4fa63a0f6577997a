"""The side effects: model calls, tools under their own names, authorization, grants, media, notifications.

Rule: everything that touches the world happens here, with a deadline and a typed error. Workflows know
these by name only.
"""
