"""What the model gets to see: the ordered pipeline that renders a transcript, and the plan that compresses it.

Rule: pure. What must be read from the world is gathered by an activity and arrives here as data.
"""
