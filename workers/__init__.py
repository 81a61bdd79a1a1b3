"""What happens behind the door: delivering, looking, reconciling, and the commands that start it all."""
