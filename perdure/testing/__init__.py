"""What users and this project test with: scripted models, the in-process engine, assertions on transcripts.

Rule: doubles are products, so nobody has to patch; transcripts equal those of a real run.
"""
