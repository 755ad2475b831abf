"""The only sockets. Nothing is imported here, so that what runs in process never loads the client."""
