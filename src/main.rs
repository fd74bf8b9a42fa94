//! The command line, dispatched.

use std::process::ExitCode;

/// GraphQL answers are many small allocations: lists are served half as fast again as with the system's allocator.
/// Without huge pages, which cost an idle process 20 MiB.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    paydesk::cli::run()
}
