"""What `toolroll doctor` looks at: one module a part of the surroundings."""
