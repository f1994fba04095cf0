"""Break a server while clients play, and compare what they were told with what is stored."""
