"""The papers' tables, next to ours."""
