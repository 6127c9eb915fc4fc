"""Kernel values between texts, computed once: the protocol, tiles on disk, a cache, and the store."""
