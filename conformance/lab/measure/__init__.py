"""What things cost: a scenario a module, its parts measured several times, in turns."""
