"""The command line: each command parses, makes one call of the vault, and renders the answer."""
