"""What the operating system is asked for: files written whole or not at all, and progress on a terminal."""
