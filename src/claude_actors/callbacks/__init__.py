"""What users decide in their own code: hooks, permissions, elicitation, and the values that they answer with."""
