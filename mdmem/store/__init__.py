"""One adapter for each outside thing. Adapters never meet; only the vault wires them."""
