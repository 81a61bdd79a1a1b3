"""The console: pages for people, which work without scripts.  Numbers and rules come from `intake.desk` and below."""
