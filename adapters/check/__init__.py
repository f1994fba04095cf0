"""``c4gateway check``: plays scripted games against a bot, and reports what the bot did right and wrong."""
