"""Does any text cost the server more time than it may?"""
