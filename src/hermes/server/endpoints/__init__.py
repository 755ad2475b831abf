"""ONE FILE = ONE PATH. Each holds `ENDPOINT`; the folder is the list of them."""
