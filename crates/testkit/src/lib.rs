//! Random cases and brute-force models.
