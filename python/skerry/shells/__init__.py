"""Makes the loops of other packages trainers of Skerry."""
