"""Break a server while clients play, and compare what they received with what is stored."""
