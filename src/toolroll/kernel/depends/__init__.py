"""Dependencies: how a provider is declared, and how its value is made and torn down."""
