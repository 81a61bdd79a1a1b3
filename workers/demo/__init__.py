"""The demonstration: the whole pipeline, on real-looking webhooks, against a CRM that is told to misbehave.

story.py tells what is sent and what must come of it; everything else sets the stage, sends, judges and prints.
"""
