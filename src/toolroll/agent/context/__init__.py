"""What of a conversation the model is sent: all of it while it fits, then what matters, with a way back to the rest."""
