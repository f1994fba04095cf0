"""What several gateways with one lobby cost, and whether they are as good as one."""
