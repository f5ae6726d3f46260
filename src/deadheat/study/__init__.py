"""What outlives a command: the ledger of looks at test sets, and sealed labels."""
