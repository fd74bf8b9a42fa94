//! The way in: JSON and a principal, JSON out.
//!
//! Every query passes here, whichever way it came: its share of the rate, its text, its document, and only
//! then the schema. Nothing else can reach the schema.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Instant};

use async_graphql::{
    Context, Data, ObjectType, Request, Response, Schema, SchemaBuilder, SubscriptionType,
    parser::{parse_query, types::OperationType},
};
use bytes::Bytes;
use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};

use super::{
    answer::{Rendered, Rendering},
    documents,
    error::ApiError,
    limits::{self, Checked, Shape},
    loads::{Loads, WithLoads},
    rate::{RateLimit, RateLimiter},
    request::{self, Body, Incoming},
};
use crate::{auth::Principal, telemetry::record};

/// How the API behaves.
#[derive(Debug, Clone, Copy)]
pub struct ApiOptions {
    /// Answers introspection and names near misses: development only.
    pub introspection: bool,
    /// Takes nothing from browsers but the console's own queries.
    pub console_queries_only: bool,
    /// Operations a second.
    pub rate_limit: RateLimit,
}

/// Who asks, and the name of this request in log, audit and answers.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The verified bearer.
    pub principal: Principal,
    /// Whether the console's cookie says so, and no token.
    pub is_browser: bool,
    /// The request's id.
    pub request_id: String,
}

/// The request's id, for resolvers that write it down.
#[derive(Debug, Clone)]
pub struct RequestId(pub String);

impl RequestId {
    /// The id of the request that is being answered.
    pub(super) fn of<'a>(ctx: &Context<'a>) -> &'a str {
        ctx.data_opt::<Self>().map_or("", |request_id| request_id.0.as_str())
    }
}

/// The answer to a POST.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status: 200 for whatever was a GraphQL request, also when it was refused; 400 for what was none.
    pub status: u16,
    /// JSON.
    pub body: Bytes,
}

/// What an operation over a websocket yields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A result, as JSON.
    Next(String),
    /// The operation failed, and ends here: a JSON array of errors. The stream may not end by itself.
    Error(String),
}

/// The API, whole. Cheap to clone.
#[derive(Clone)]
pub struct Api(Arc<Inner>);

struct Inner {
    executor: Box<dyn Execute>,
    shape: Shape,
    limiter: RateLimiter,
    introspection: bool,
    console_queries_only: bool,
    prepare: Box<Prepare>,
}

/// Puts what belongs to one operation alone into its data.
type Prepare = dyn Fn(&mut Data, Loads) + Send + Sync;

/// A schema without its type: a query or mutation yields one response, a subscription many.
trait Execute: Send + Sync {
    fn stream(&self, request: Request) -> BoxStream<'static, Response>;
}

impl<Q, M, S> Execute for Schema<Q, M, S>
where
    Q: ObjectType + 'static,
    M: ObjectType + 'static,
    S: SubscriptionType + 'static,
{
    fn stream(&self, request: Request) -> BoxStream<'static, Response> {
        self.execute_stream(request)
    }
}

/// A query that may run.
struct Admitted {
    request: Request,
    loads: Loads,
    checked: Checked,
}

impl Api {
    /// Builds it over a schema. `prepare` puts what belongs to one operation alone, the loaders, into its
    /// data: it runs once per operation, so that no two share them.
    pub(super) fn new<Q, M, S>(
        schema: SchemaBuilder<Q, M, S>,
        options: ApiOptions,
        prepare: impl Fn(&mut Data, Loads) + Send + Sync + 'static,
    ) -> Self
    where
        Q: ObjectType + 'static,
        M: ObjectType + 'static,
        S: SubscriptionType + 'static,
    {
        // Selections were bounded before; the library's own bound would answer in its own words.
        let schema = schema.limit_recursive_depth(limits::MAX_RECURSION);
        let schema = if options.introspection {
            schema.finish()
        } else {
            schema.disable_introspection().disable_suggestions().finish()
        };
        Self(Arc::new(Inner {
            shape: Shape::from_sdl(&schema.sdl()),
            executor: Box::new(schema),
            limiter: RateLimiter::new(options.rate_limit),
            introspection: options.introspection,
            console_queries_only: options.console_queries_only,
            prepare: Box::new(prepare),
        }))
    }

    /// Answers the body of a POST. The queries of a batch run one after the other, each on its own terms.
    pub async fn execute(&self, body: &[u8], caller: &Caller) -> Answer {
        match request::read(body) {
            Err(error) => {
                let json = self.rendering(caller).refusal(error).json;
                Answer { status: 400, body: json.into() }
            }
            Ok(Body::Single(incoming)) => {
                Answer { status: 200, body: self.run(incoming, caller).await.into() }
            }
            Ok(Body::Batch(batch)) => {
                let mut answers = Vec::with_capacity(batch.len());
                for incoming in batch {
                    answers.push(self.run(incoming, caller).await);
                }
                Answer { status: 200, body: format!("[{}]", answers.join(",")).into() }
            }
        }
    }

    /// Opens an operation of a websocket from its `subscribe` payload.
    pub fn open(&self, payload: &str, caller: &Caller) -> BoxStream<'static, Event> {
        let started = Instant::now();
        let rendering = self.rendering(caller);
        let admitted =
            request::read_one(payload.as_bytes()).and_then(|incoming| self.admit(incoming, caller));
        match admitted {
            Err(error) => {
                let rendered = rendering.refusal(error);
                observe(None, &rendered, started);
                stream::iter(into_event(rendered)).boxed()
            }
            Ok(Admitted { request, loads, checked }) => {
                let responses = AssertUnwindSafe(self.0.responses(request, loads)).catch_unwind();
                let running = (checked.kind == OperationType::Subscription).then(record::subscription);
                let events = responses.map(move |response| {
                    let _until_the_stream_is_dropped = &running;
                    let rendered = match response {
                        Ok(response) => rendering.response(response),
                        Err(_panic) => rendering.refusal(ApiError::internal("a resolver panicked")),
                    };
                    observe(Some(&checked), &rendered, started);
                    rendered
                });
                events.flat_map(|rendered| stream::iter(into_event(rendered))).boxed()
            }
        }
    }

    async fn run(&self, incoming: Incoming, caller: &Caller) -> String {
        let started = Instant::now();
        let rendering = self.rendering(caller);
        let (checked, rendered) = match self.admit_over_http(incoming, caller) {
            Err(error) => (None, rendering.refusal(error)),
            Ok(Admitted { request, loads, checked }) => {
                let response = self.0.responses(request, loads).next().await;
                let rendered = match response {
                    Some(response) => rendering.response(response),
                    None => rendering.refusal(ApiError::internal("an operation without an answer")),
                };
                (Some(checked), rendered)
            }
        };
        observe(checked.as_ref(), &rendered, started);
        rendered.json
    }

    fn admit_over_http(&self, incoming: Incoming, caller: &Caller) -> Result<Admitted, ApiError> {
        let admitted = self.admit(incoming, caller)?;
        if admitted.checked.kind == OperationType::Subscription {
            return Err(ApiError::bad_request("Subscriptions go over the websocket /graphql/ws."));
        }
        Ok(admitted)
    }

    fn admit(&self, mut incoming: Incoming, caller: &Caller) -> Result<Admitted, ApiError> {
        self.0.limiter.take(&caller.principal, Instant::now())?;
        let variables = incoming.take_variables();
        let query = documents::text(&incoming, caller, self.0.console_queries_only)?;
        limits::check_text(query)?;
        let document = parse_query(query).map_err(|error| syntax(&error))?;
        let name = incoming.operation_name();
        let checked =
            limits::check_document(&document, name, &variables, &self.0.shape, self.0.introspection)?;
        let mut request = Request::new(query).variables(variables);
        request.operation_name = name.map(str::to_owned);
        request.set_parsed_query(document);
        let loads = Loads::default();
        (self.0.prepare)(&mut request.data, loads.clone());
        request.data.insert(caller.principal.clone());
        request.data.insert(RequestId(caller.request_id.clone()));
        Ok(Admitted { request, loads, checked })
    }

    fn rendering(&self, caller: &Caller) -> Rendering {
        Rendering { request_id: caller.request_id.clone(), discloses_schema: self.0.introspection }
    }
}

impl Inner {
    fn responses(&self, request: Request, loads: Loads) -> WithLoads<Response> {
        WithLoads::new(self.executor.stream(request), loads)
    }
}

/// A result without any data is the operation's failure.
fn into_event(rendered: Rendered) -> [Event; 1] {
    [match rendered.errors_only {
        Some(errors) => Event::Error(errors),
        None => Event::Next(rendered.json),
    }]
}

/// The parser's own text lists what the grammar would have taken; the place is enough.
fn syntax(error: &async_graphql::parser::Error) -> ApiError {
    let refused = ApiError::bad_request("The query is not valid GraphQL.");
    match error.positions().next() {
        Some(pos) => refused.at(pos.line, pos.column),
        None => refused,
    }
}

fn observe(checked: Option<&Checked>, rendered: &Rendered, started: Instant) {
    let operation = match checked.map(|checked| checked.kind) {
        Some(OperationType::Query) => "query",
        Some(OperationType::Mutation) => "mutation",
        // How long one lasts says nothing; it is counted while it runs.
        Some(OperationType::Subscription) => "subscription",
        None => "refused",
    };
    if let Some(code) = rendered.code {
        record::graphql_error(code.as_str());
    }
    let field = checked.map_or("none", |checked| checked.label.as_str());
    let outcome = if rendered.code.is_some() { "error" } else { "ok" };
    if operation != "subscription" {
        record::graphql_request(operation, field, outcome, started.elapsed());
    }
}
