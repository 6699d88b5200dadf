"""Write posts in a person's own voice: profiles of style, feedback, past posts, and the tools that use them."""
