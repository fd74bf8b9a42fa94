//! The command line, dispatched.

fn main() {}
