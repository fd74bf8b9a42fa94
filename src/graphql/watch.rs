//! A watched row as a stream. Free of Diesel's traits, which the subscription macro does not bear.

use futures_util::{Stream, stream};

use crate::db::Watching;

/// The row as it is, then each version that differs from the one before; `is_last` says after which the stream ends.
pub(super) fn changes<R, N>(
    watching: Watching<R>,
    to_node: fn(R) -> N,
    is_last: fn(&R) -> bool,
) -> impl Stream<Item = N>
where
    R: Clone + PartialEq,
{
    stream::unfold((None::<R>, watching), move |(shown, mut watching)| async move {
        if shown.as_ref().is_some_and(is_last) {
            return None;
        }
        loop {
            let latest = watching.borrow_and_update().clone();
            if let Some(row) = latest.filter(|row| Some(row) != shown.as_ref()) {
                return Some((to_node(row.clone()), (Some(row), watching)));
            }
            watching.changed().await.ok()?;
        }
    })
}

/// For rows that may change for ever.
pub(super) fn never<R>(_row: &R) -> bool {
    false
}
