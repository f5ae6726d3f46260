"""What the questions answer with: frozen, typed results, their verdicts, and one codec to JSON and back."""
