"""The API: the same reading and deciding as the console, for programs."""
