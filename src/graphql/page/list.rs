use async_graphql::Context;

use super::{COUNT_CAP, Connection, Counter, Node, PageArgs};
use crate::{
    db::page::Listing,
    graphql::{error::ApiError, input, schema::Services},
};

/// An object whose rows are listed from the database.
pub trait Listed: Node + Sized {
    /// Picks the rows.
    type Filter: Listing;

    /// The filters that an index serves, told to a caller whose mix of them takes too long.
    const INDEXED: &'static str;

    /// The object of a row.
    fn from_row(row: <Self::Filter as Listing>::Row) -> Self;
}

/// Reads the page that the arguments ask for; the count is read only when it is asked for.
pub async fn connection<N: Listed>(
    ctx: &Context<'_>,
    args: PageArgs,
    filter: N::Filter,
) -> Result<Connection<N>, ApiError> {
    let request = args.request::<N>()?;
    let db = Services::of(ctx)?.db.clone();
    let mut conn = db.read().await.map_err(input::failed)?;
    let rows = filter.page(&mut conn, &request).await;
    drop(conn);
    let rows = rows.map_err(|error| input::read_failed(error, N::INDEXED))?;
    let counter: Counter = Box::new(move || {
        let (db, filter) = (db.clone(), filter.clone());
        Box::pin(async move {
            let mut conn = db.read().await.map_err(input::failed)?;
            let counted = filter.count(&mut conn, COUNT_CAP).await;
            counted.map(input::counted).map_err(|error| input::read_failed(error, N::INDEXED))
        })
    });
    Ok(Connection::new(rows, N::from_row, counter))
}
