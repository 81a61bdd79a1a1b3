"""The door and the desk: takes deliveries in, keeps them, and shows them to people."""
