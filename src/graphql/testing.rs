//! A small schema that behaves as the real one does, and worse.

#![expect(clippy::unused_async, reason = "async-graphql's macros ask for async functions")]

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use async_graphql::{Context, Data, Object, Schema, SimpleObject, Subscription};
use futures_util::{FutureExt, Stream, StreamExt, stream};

use super::{
    api::{Api, ApiOptions, Caller},
    error::ApiError,
    guard,
    page::{Connection, Counted, Node, PageArgs},
    rate::RateLimit,
    scalars::{DateTime, Long},
};
use crate::{
    auth::{Principal, Role},
    db::page::{Keyset, PageRows},
    types::{Instant, clock},
};

/// A principal whose token lasts an hour.
pub(crate) fn principal(subject: &str, roles: &[Role]) -> Principal {
    Principal::for_tests(subject, roles, clock::now() + chrono::TimeDelta::hours(1))
}

pub(crate) fn caller(roles: &[Role]) -> Caller {
    Caller { principal: principal("alice", roles), is_browser: false, request_id: "r-1".to_owned() }
}

/// What the test looks at from outside.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) counted: AtomicUsize,
    pub(crate) mutated: AtomicUsize,
    pub(crate) loaders: AtomicUsize,
    pub(crate) streaming: AtomicUsize,
}

/// Its number tells which operation it was made for.
pub(crate) struct Loader(usize);

#[derive(SimpleObject)]
pub(crate) struct Item {
    id: i32,
    #[graphql(skip)]
    at: Instant,
    tags: Vec<String>,
}

impl Node for Item {
    const LIST: &'static str = "items";

    fn keyset(&self) -> Keyset {
        Keyset { at: self.at, id: i64::from(self.id) }
    }
}

pub(crate) struct Query(Arc<Seen>);

#[Object]
impl Query {
    async fn viewer(&self, ctx: &Context<'_>) -> Result<String, ApiError> {
        Ok(guard::any_role(ctx)?.subject().to_owned())
    }

    async fn secret(&self, ctx: &Context<'_>) -> Result<i32, ApiError> {
        guard::reader(ctx)?;
        Ok(42)
    }

    async fn leaky(&self) -> async_graphql::Result<Option<i32>> {
        Err(std::io::Error::other("postgres://user:hunter2@db").into())
    }

    async fn broken(&self) -> Result<Option<i32>, ApiError> {
        Err(ApiError::internal(std::io::Error::other("hunter2")))
    }

    async fn panics(&self) -> Option<i32> {
        assert!(self.0.mutated.load(Ordering::SeqCst) > 1_000, "hunter2");
        None
    }

    async fn echo(&self, long: Long, at: Option<DateTime>, int: Option<i32>) -> String {
        format!("{} {at:?} {int:?}", long.get())
    }

    async fn loader(&self, ctx: &Context<'_>) -> Result<usize, ApiError> {
        ctx.data_opt::<Loader>().map(|loader| loader.0).ok_or_else(ApiError::forbidden)
    }

    async fn items(
        &self,
        first: Option<i32>,
        after: Option<String>,
        last: Option<i32>,
        before: Option<String>,
    ) -> Result<Connection<Item>, ApiError> {
        let request = PageArgs { first, after, last, before }.request::<Item>()?;
        let at = clock::now();
        let rows = (0..request.limit.min(3)).rev().map(|id| Item {
            id: i32::try_from(id).unwrap(),
            at,
            tags: Vec::new(),
        });
        let page = PageRows { rows: rows.collect::<Vec<_>>(), has_next: true, has_previous: false };
        let seen = self.0.clone();
        let counter = move || {
            seen.counted.fetch_add(1, Ordering::SeqCst);
            async move { Ok(Counted { value: 10_001, as_of: at }) }.boxed()
        };
        Ok(Connection::new(page, |row| row, Box::new(counter)))
    }
}

pub(crate) struct Mutation(Arc<Seen>);

#[Object]
impl Mutation {
    async fn set(&self, ctx: &Context<'_>) -> Result<bool, ApiError> {
        guard::admin(ctx)?;
        self.0.mutated.fetch_add(1, Ordering::SeqCst);
        Ok(true)
    }
}

/// Counts itself out when its stream is dropped.
struct Streaming(Arc<Seen>);

impl Streaming {
    fn new(seen: &Arc<Seen>) -> Self {
        seen.streaming.fetch_add(1, Ordering::SeqCst);
        Self(seen.clone())
    }
}

impl Drop for Streaming {
    fn drop(&mut self) {
        self.0.streaming.fetch_sub(1, Ordering::SeqCst);
    }
}

pub(crate) struct Events(Arc<Seen>);

#[Subscription]
impl Events {
    async fn ticks(&self, ctx: &Context<'_>, count: i32) -> Result<impl Stream<Item = i32>, ApiError> {
        guard::reader(ctx)?;
        Ok(stream::iter(0..count))
    }

    /// Never ends and never yields.
    async fn silent(&self, ctx: &Context<'_>) -> Result<impl Stream<Item = i32>, ApiError> {
        guard::any_role(ctx)?;
        let streaming = Streaming::new(&self.0);
        Ok(stream::pending().inspect(move |_: &i32| {
            let _alive = &streaming;
        }))
    }

    /// Long texts without end.
    async fn flood(&self, ctx: &Context<'_>) -> Result<impl Stream<Item = String>, ApiError> {
        guard::any_role(ctx)?;
        let (streaming, seen) = (Streaming::new(&self.0), self.0.clone());
        Ok(stream::repeat_with(move || {
            let _alive = &streaming;
            seen.counted.fetch_add(1, Ordering::SeqCst);
            "x".repeat(100_000)
        }))
    }

    async fn falters(&self) -> impl Stream<Item = Result<i32, ApiError>> {
        stream::iter([Ok(1), Err(ApiError::internal(std::io::Error::other("hunter2")))])
    }

    async fn explodes(&self) -> impl Stream<Item = i32> {
        stream::iter(0..2).map(|n| if n == 0 { n } else { panic!("hunter2") })
    }
}

/// The API over the test schema, with the given rate for operators.
pub(crate) fn api(introspection: bool, rate: u32) -> (Api, Arc<Seen>) {
    let seen = Arc::new(Seen::default());
    let schema = Schema::build(Query(seen.clone()), Mutation(seen.clone()), Events(seen.clone()));
    let options = ApiOptions {
        introspection,
        console_queries_only: false,
        rate_limit: RateLimit { operator: rate, service: rate },
    };
    let prepared = seen.clone();
    let prepare = move |data: &mut Data, _| {
        data.insert(Loader(prepared.loaders.fetch_add(1, Ordering::SeqCst)));
    };
    (Api::new(schema, options, prepare), seen)
}
