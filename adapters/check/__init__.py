"""``c4gateway check``: plays scripted opponents against a bot, and says what the bot did right and wrong."""
