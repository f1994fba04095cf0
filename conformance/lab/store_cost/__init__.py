"""What it costs to keep results: `command` measures, `figures` compares."""
