"""The composition: settings, logs, data converter, the worker itself and the embedded server.

Rule: the one place where the rooms are put together; configuration is read here and handed down as values.
"""
