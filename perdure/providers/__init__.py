"""The model runtime: adapters over HTTP, stream assembly, capabilities, typed errors and prices.

Rule: an adapter maps every foreign error once and never retries; Temporal does. No vendor SDK.
"""
