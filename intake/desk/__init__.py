"""The desk, shared by the console and the API: who may do what, sessions and tokens, and what both show."""
