"""The engines of Monte Carlo beside their plain form."""
