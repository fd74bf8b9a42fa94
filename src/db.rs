//! The database: what every context's store shares.

pub mod page;
