"""One file or folder is one wire protocol: pure functions between Hermes' values and a vendor's JSON."""
