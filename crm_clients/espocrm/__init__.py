"""EspoCRM, version 8.4 and later."""
