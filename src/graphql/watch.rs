//! A watched row as a stream. Free of Diesel's traits, which the subscription macro does not bear.

use async_graphql::{Context, ID};
use futures_util::{Stream, stream};

use super::{error::ApiError, guard, input, schema::Services};
use crate::db::{RowSource, Watcher, Watching};

/// For readers: the row with this id as it is, then each version that differs from the one before. `what` is what there
/// may be none of; `is_last` says after which version the stream ends.
pub(super) async fn row<S: RowSource, N>(
    ctx: &Context<'_>,
    (what, id): (&str, &ID),
    watcher: fn(&Services) -> &Watcher<S>,
    to_node: fn(S::Row) -> N,
    is_last: fn(&S::Row) -> bool,
) -> Result<impl Stream<Item = N> + use<S, N>, ApiError> {
    guard::reader(ctx)?;
    let id = input::id(&["id"], id)?;
    let watching = watcher(Services::of(ctx)?).watch(id).await.map_err(input::failed)?;
    let watching = watching.ok_or_else(|| ApiError::not_found(format!("There is no such {what}.")))?;
    Ok(changes(watching, to_node, is_last))
}

fn changes<R, N>(watching: Watching<R>, to_node: fn(R) -> N, is_last: fn(&R) -> bool) -> impl Stream<Item = N>
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
