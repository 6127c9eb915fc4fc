"""What `bench_unlabelled` stands on: the tasks, other people's methods for keywords and unlabelled texts, and
ways to do harm.
"""
