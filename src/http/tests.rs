//! The server over real sockets, with the test schema behind it.

mod post;
mod shutdown;
mod sockets;
mod sockets_trouble;
mod support;
