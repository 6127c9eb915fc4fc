"""One script per question; run from the project's root: python -m benchmarks.bench_primal."""
