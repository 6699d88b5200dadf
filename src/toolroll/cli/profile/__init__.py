"""Style profiles at the command line: made of posts, shown, changed, compared and removed."""
