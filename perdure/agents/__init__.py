"""Agents and skills as files: parse, validate, freeze with a digest.

Rule: a mistake in a file is an error with its line and column; nothing is guessed and nothing unknown is passed over.
"""
