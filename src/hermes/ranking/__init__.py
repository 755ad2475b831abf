"""How well texts meet a question, by their words alone: shared by scout and the web tools."""
