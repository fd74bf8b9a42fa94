use std::borrow::Cow;

use async_graphql::{Enum, Object, OutputType, SimpleObject, TypeName};
use futures_util::future::BoxFuture;

use super::cursor;
use crate::{
    db::page::{Keyset, PageRows},
    graphql::{
        error::ApiError,
        scalars::{DateTime, Long},
    },
    types::Instant,
};

/// Up to here a count is exact; counting further would read without end.
pub const COUNT_CAP: i64 = 10_000;

/// How many rows match, counted over at most [`COUNT_CAP`] + 1 of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// The number as the store counted it.
    pub value: i64,
    /// When.
    pub as_of: Instant,
}

/// An object that is listed in connections.
pub trait Node: OutputType {
    /// The list's name inside its cursors; two lists never share one.
    const LIST: &'static str;

    /// The row's key in the list.
    fn keyset(&self) -> Keyset;
}

/// Counts what the list's filter matches; run only when `count` is asked for.
pub type Counter = Box<dyn Fn() -> BoxFuture<'static, Result<Counted, ApiError>> + Send + Sync>;

/// One page of a list.
pub struct Connection<N> {
    edges: Vec<Edge<N>>,
    page_info: PageInfo,
    counter: Counter,
}

impl<N: Node> Connection<N> {
    /// Makes the page of `rows`; `counter` counts the whole list.
    pub fn new<R>(page: PageRows<R>, to_node: impl Fn(R) -> N, counter: Counter) -> Self {
        let edges: Vec<Edge<N>> = page.rows.into_iter().map(|row| Edge { node: to_node(row) }).collect();
        let page_info = PageInfo {
            has_next_page: page.has_next,
            has_previous_page: page.has_previous,
            start_cursor: edges.first().map(Edge::own_cursor),
            end_cursor: edges.last().map(Edge::own_cursor),
        };
        Self { edges, page_info, counter }
    }
}

impl<N: Node> TypeName for Connection<N> {
    fn type_name() -> Cow<'static, str> {
        format!("{}Connection", N::type_name()).into()
    }
}

/// One page of a list, newest first.
#[Object(name_type)]
impl<N: Node> Connection<N> {
    /// The rows with their cursors.
    async fn edges(&self) -> &[Edge<N>] {
        &self.edges
    }

    /// The rows.
    async fn nodes(&self) -> Vec<&N> {
        self.edges.iter().map(|edge| &edge.node).collect()
    }

    /// Where this page stands in the list.
    async fn page_info(&self) -> &PageInfo {
        &self.page_info
    }

    /// How many rows the whole list has.
    async fn count(&self) -> Result<Count, ApiError> {
        (self.counter)().await.map(Count::of)
    }
}

/// A row in a page.
pub struct Edge<N> {
    node: N,
}

impl<N: Node> Edge<N> {
    fn own_cursor(&self) -> String {
        cursor::encode(N::LIST, self.node.keyset())
    }
}

impl<N: Node> TypeName for Edge<N> {
    fn type_name() -> Cow<'static, str> {
        format!("{}Edge", N::type_name()).into()
    }
}

/// A row of a list and its place in it.
#[Object(name_type)]
impl<N: Node> Edge<N> {
    /// Pass it as `after` or `before`.
    async fn cursor(&self) -> String {
        self.own_cursor()
    }

    /// The row.
    async fn node(&self) -> &N {
        &self.node
    }
}

/// Where a page stands in its list.
#[derive(Debug, Clone, SimpleObject)]
pub struct PageInfo {
    /// Whether older rows follow.
    pub has_next_page: bool,
    /// Whether newer rows precede.
    pub has_previous_page: bool,
    /// The first row's cursor.
    pub start_cursor: Option<String>,
    /// The last row's cursor.
    pub end_cursor: Option<String>,
}

/// A count as it was at some instant.
#[derive(Debug, Clone, Copy)]
pub struct Count {
    value: i64,
    precision: CountPrecision,
    as_of: Instant,
}

impl Count {
    /// What a list counted, over the cap or not.
    pub fn of(counted: Counted) -> Self {
        Self::new(counted.value.min(COUNT_CAP), counted.value > COUNT_CAP, counted.as_of)
    }

    /// So many, or at least so many.
    pub fn new(value: i64, at_least: bool, as_of: Instant) -> Self {
        let precision = if at_least { CountPrecision::AtLeast } else { CountPrecision::Exact };
        Self { value, precision, as_of }
    }
}

/// How many match. EXACT up to 10,000; beyond that `AT_LEAST`. Never slows the list: computed only if asked for.
#[Object]
impl Count {
    /// The number.
    async fn value(&self) -> Long {
        Long::clamped(self.value)
    }

    /// Whether it is the number itself or a lower bound.
    async fn precision(&self) -> CountPrecision {
        self.precision
    }

    /// When it was counted.
    async fn as_of(&self) -> DateTime {
        DateTime(self.as_of)
    }
}

/// How exact a count is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
pub enum CountPrecision {
    /// The number itself.
    Exact,
    /// There are at least so many.
    AtLeast,
}
