"""The durable shell around the brain: one workflow, `AgentRun`, and the executors of its instructions.

The rule of this room: deterministic. It knows activities only by the names and types in contracts, and reaches nothing
that does input or output; the sandbox refuses a workflow that does.
"""
