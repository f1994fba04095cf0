"""Break a server while clients play, and compare the results that they received with the stored ones."""
