"""Who does it: the reactor, the actors and the ports. Everything here is private to the package."""
