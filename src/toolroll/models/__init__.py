"""The models an agent drives: one folder per wire format, and the scripted ones beside them."""
