"""What benches that train share: jobs on clusters of this machine."""
