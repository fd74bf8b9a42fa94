//! What tests stand on: an App with a database, a name prefix at the broker and ports of its own.

pub mod api;
pub mod app;
pub mod db;
pub mod messages;
pub mod own;
pub mod process;
pub mod proxy;
pub mod rabbit;
pub mod shop;
pub mod toss;
pub mod wait;

pub use app::TestApp;
pub use proxy::Proxy;
pub use shop::Shop;
pub use toss::Toss;
pub use wait::eventually;

/// How long tidying up after a test may take.
const TIDYING: std::time::Duration = std::time::Duration::from_secs(15);

/// Runs a future to its end from a `Drop`, where no runtime may be entered.
pub fn block_in_thread<F>(work: F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        // Tidying up must not hold a test for ever: what it leaves behind goes with the services.
        let _left_behind = runtime.block_on(async { tokio::time::timeout(TIDYING, work).await });
        runtime.shutdown_background();
    });
    thread.join().unwrap();
}

/// A service that the test script has started.
pub fn service_url(variable: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| {
        panic!("{variable} is not set: run the tests with `make test`, which starts the services")
    })
}
