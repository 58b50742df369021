"""A whole Skerry on one machine: daemons, emulated links, faults."""
