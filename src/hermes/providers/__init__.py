"""One file is one model provider, a value named `PROVIDER`. The folder is the registry."""
