//! The schema: the roots, and what the resolvers work with.

use std::sync::Arc;

use async_graphql::{Context, Data, MergedObject, MergedSubscription, Schema, SchemaBuilder};

use super::{
    api::{Api, ApiOptions},
    can_product::{CanProductMutation, CanProductQuery},
    charge::{ChargeMutation, ChargeQuery},
    charge_event::{ChargeEventMutation, ChargeEventQuery},
    charge_job::{ChargeJobMutation, ChargeJobQuery, ChargeJobSubscription},
    error::ApiError,
    failure::{FailureQuery, FailureSubscription},
    inbound_dead_letter::{InboundDeadLetterMutation, InboundDeadLetterQuery},
    invariant::InvariantQuery,
    loaders,
    member::{MemberMutation, MemberQuery},
    outbox_event::{OutboxMutation, OutboxQuery, OutboxSubscription},
    overview::{OverviewQuery, OverviewSubscription},
    payment::{PaymentMutation, PaymentQuery, PaymentSubscription},
    refund::{RefundMutation, RefundQuery, RefundSubscription},
    viewer::ViewerQuery,
};
use crate::{
    charges::{ChargeJobRows, Charges},
    db::{Database, Watcher},
    failures::FailureFeed,
    inbox::Inbox,
    operations::{Books, OverviewFeed},
    outbox::{Gate, Outbox, OutboxRows},
    payments::{PaymentRows, Payments, RefundRows},
};

/// What the resolvers work with; one for the process.
#[derive(Clone)]
pub struct Services {
    /// The database.
    pub db: Database,
    /// Payments' use cases.
    pub payments: Payments,
    /// Charges' use cases.
    pub charges: Charges,
    /// The way into the outbox.
    pub outbox: Outbox,
    /// The consumers' dead letters.
    pub inbox: Inbox,
    /// The gate before the broker, which tells what events wait for.
    pub gate: Gate,
    /// The live failure feed.
    pub feed: FailureFeed,
    /// How everything stands.
    pub overview: Arc<OverviewFeed>,
    /// Watched payments.
    pub payment_watcher: Arc<Watcher<PaymentRows>>,
    /// Watched refunds.
    pub refund_watcher: Arc<Watcher<RefundRows>>,
    /// Watched outbox events.
    pub outbox_watcher: Arc<Watcher<OutboxRows>>,
    /// Watched bonus jobs.
    pub charge_job_watcher: Arc<Watcher<ChargeJobRows>>,
    /// The books.
    pub books: Books,
    /// The deployment's name.
    pub environment: String,
}

/// Every read.
#[derive(MergedObject, Default)]
pub struct Query(
    ViewerQuery,
    OverviewQuery,
    PaymentQuery,
    RefundQuery,
    OutboxQuery,
    ChargeJobQuery,
    ChargeQuery,
    ChargeEventQuery,
    CanProductQuery,
    MemberQuery,
    InboundDeadLetterQuery,
    FailureQuery,
    InvariantQuery,
);

/// Every change.
#[derive(MergedObject, Default)]
pub struct Mutation(
    PaymentMutation,
    RefundMutation,
    ChargeMutation,
    MemberMutation,
    OutboxMutation,
    ChargeJobMutation,
    InboundDeadLetterMutation,
    ChargeEventMutation,
    CanProductMutation,
);

/// Everything live.
#[derive(MergedSubscription, Default)]
pub struct Subscription(
    FailureSubscription,
    PaymentSubscription,
    RefundSubscription,
    OutboxSubscription,
    OverviewSubscription,
    ChargeJobSubscription,
);

fn builder() -> SchemaBuilder<Query, Mutation, Subscription> {
    Schema::build(Query::default(), Mutation::default(), Subscription::default())
}

/// The API over these services. Loaders are made anew for every operation: nothing read for one caller reaches another.
pub fn api(services: Services, options: ApiOptions) -> Api {
    let per_operation = services.clone();
    let prepare = move |data: &mut Data, loads| loaders::insert(data, &per_operation, loads);
    Api::new(builder().data(services), options, prepare)
}

/// The schema in SDL; the file `schema.graphql` is exactly this.
pub fn sdl() -> String {
    builder().finish().sdl()
}

impl Services {
    /// The services of the process that answers.
    pub(super) fn of<'a>(ctx: &Context<'a>) -> Result<&'a Self, ApiError> {
        ctx.data_opt().ok_or_else(|| ApiError::internal("a schema without services"))
    }
}
