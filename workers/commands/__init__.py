"""The commands that need workers or CRM clients."""
