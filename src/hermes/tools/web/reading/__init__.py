"""What was fetched, made readable in processes of its own: what it is, its text, and who reads it."""
