"""What is on now: from the feed of the process that plays to the browsers of those who watch.

`telling` is the end in the process that plays, `rows` what crosses. All others are in the web's process:
`model` knows what is on, `channel` what those who watch the same have been told, `channels` keeps both, and
`live` and `paths` serve the viewers.
"""
