//! The `pantile` command.
fn main() {}
