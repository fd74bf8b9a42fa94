//! Loaders: one query for all rows of a page, instead of one for each. Made per operation, each load on its own
//! connection.

use std::{collections::HashMap, hash::Hash, sync::Arc, time::Duration};

use async_graphql::{
    Context, Data,
    dataloader::{DataLoader, Loader},
};

use super::{
    bodies::Bodies,
    error::{ApiError, Cause},
    input,
    loads::Loads,
    page::COUNT_CAP,
    schema::Services,
};
use crate::{
    charges::{self, Charge, ChargeEvent, ChargeJob, LedgerEntry, Member, Wallet},
    db::{
        Database, DbError,
        page::{PageRequest, PageRows},
    },
    failures::{self, Failure, SubjectType},
    gateways::{self, RecordedCall},
    inbox::{self, InboundDeadLetter},
    outbox::{self, OutboxEvent},
    payments::{self, Payment, Refund},
};

/// Rows of one kind that an object shows of another, at most; the newest ones.
const PER_OBJECT: i64 = 100;

/// Reads for the nested fields.
pub(super) struct Reads(Database);

/// The failures of a subject.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct FailuresOf(pub SubjectType, pub String);

/// The outbox events about a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct EventsOfPayment(pub i64);

/// The provider calls for a payment or a refund.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct CallsOf(pub SubjectType, pub i64);

/// The refunds of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct RefundsOfPayment(pub i64);

/// A refund by its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct RefundById(pub i64);

/// A payment by its id; a refunded one too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct PaymentById(pub i64);

/// An outbox event by its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct EventById(pub i64);

/// The body of an outbox event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct PayloadOf(pub i64);

/// An inbound dead letter by its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct DeadLetterById(pub i64);

/// The bytes of a dead letter's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct BodySizeOf(pub i64);

/// The body of a dead letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct BodyOf(pub i64);

/// A charge by its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ChargeById(pub i64);

/// A bonus job by its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ChargeJobById(pub i64);

/// What a charge has earned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct JobsOfCharge(pub i64);

/// A member by its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct MemberById(pub i64);

/// A member's wallets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct WalletsOf(pub i64);

/// A page of a member's ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct LedgerOf(pub i64, pub PageRequest);

/// How many entries a member's ledger has, counted up to the lists' cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct LedgerCountOf(pub i64);

/// A promotion by its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct PromotionById(pub i64);

/// Whether a promotion is active, given the first charge's percentage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct AnyActivePromotion(pub i32);

/// Puts the loaders of one operation, and what it counts, into its data; their loads are carried out with it.
pub(super) fn insert(data: &mut Data, services: &Services, loads: Loads) {
    data.insert(Bodies::new(loads.clone()));
    let loader = DataLoader::new(Reads(services.db.clone()), move |load| loads.spawn(load));
    // Those who ask together are in one batch already.
    data.insert(Arc::new(loader.delay(Duration::ZERO)));
}

/// Loads one key together with its neighbours'.
pub(super) async fn load<K>(
    ctx: &Context<'_>,
    key: K,
) -> Result<Option<<Reads as Loader<K>>::Value>, ApiError>
where
    K: Send + Sync + Hash + Eq + Clone + 'static,
    Reads: Loader<K, Error = Cause>,
{
    load_by(reads(ctx)?, key).await
}

/// The operation's loaders, for what is read after its field has answered.
pub(super) fn reads(ctx: &Context<'_>) -> Result<Arc<DataLoader<Reads>>, ApiError> {
    let reads = ctx.data_opt::<Arc<DataLoader<Reads>>>().cloned();
    reads.ok_or_else(|| ApiError::internal("an operation without loaders"))
}

/// Loads one key together with its neighbours'.
pub(super) async fn load_by<K>(
    reads: Arc<DataLoader<Reads>>,
    key: K,
) -> Result<Option<<Reads as Loader<K>>::Value>, ApiError>
where
    K: Send + Sync + Hash + Eq + Clone + 'static,
    Reads: Loader<K, Error = Cause>,
{
    reads.load_one(key).await.map_err(failed)
}

/// As [`input::failed`] has it, for an error that several fields share.
fn failed(cause: Cause) -> ApiError {
    match cause.downcast_ref::<DbError>() {
        Some(DbError::Unavailable(why)) => input::failed(DbError::Unavailable(why.clone())),
        Some(slow) if slow.is_statement_timeout() => input::slow(slow),
        _ => ApiError::internal_shared(cause),
    }
}

fn shared(error: impl Into<DbError>) -> Cause {
    Arc::new(error.into())
}

fn grouped<K: Hash + Eq, V>(rows: Vec<V>, key: impl Fn(&V) -> K) -> HashMap<K, Vec<V>> {
    let mut groups: HashMap<K, Vec<V>> = HashMap::new();
    for row in rows {
        groups.entry(key(&row)).or_default().push(row);
    }
    groups
}

impl Loader<FailuresOf> for Reads {
    type Value = Vec<Failure>;
    type Error = Cause;

    async fn load(&self, keys: &[FailuresOf]) -> Result<HashMap<FailuresOf, Vec<Failure>>, Cause> {
        let mut conn = self.0.read().await.map_err(shared)?;
        let mut all = HashMap::new();
        for subject_type in SubjectType::ALL.iter().copied() {
            let ids: Vec<String> =
                keys.iter().filter(|key| key.0 == subject_type).map(|key| key.1.clone()).collect();
            if !ids.is_empty() {
                let rows = failures::for_subjects(&mut conn, subject_type.as_str(), ids, PER_OBJECT).await;
                all.extend(grouped(rows.map_err(shared)?, |row| {
                    FailuresOf(subject_type, row.subject_id.clone())
                }));
            }
        }
        Ok(all)
    }
}

impl Loader<EventsOfPayment> for Reads {
    type Value = Vec<OutboxEvent>;
    type Error = Cause;

    async fn load(
        &self,
        keys: &[EventsOfPayment],
    ) -> Result<HashMap<EventsOfPayment, Vec<OutboxEvent>>, Cause> {
        let ids = keys.iter().map(|key| key.0.to_string()).collect();
        let mut conn = self.0.read().await.map_err(shared)?;
        let rows = outbox::for_aggregates(&mut conn, "PAYMENT", ids, PER_OBJECT).await.map_err(shared)?;
        Ok(grouped(rows, |row| EventsOfPayment(row.aggregate_id.parse().unwrap_or_default())))
    }
}

impl Loader<CallsOf> for Reads {
    type Value = Vec<RecordedCall>;
    type Error = Cause;

    async fn load(&self, keys: &[CallsOf]) -> Result<HashMap<CallsOf, Vec<RecordedCall>>, Cause> {
        let mut conn = self.0.read().await.map_err(shared)?;
        let mut all = HashMap::new();
        for subject_type in SubjectType::ALL.iter().copied() {
            let ids: Vec<i64> = keys.iter().filter(|key| key.0 == subject_type).map(|key| key.1).collect();
            if !ids.is_empty() {
                let rows = gateways::calls_for(&mut conn, subject_type.as_str(), ids, PER_OBJECT).await;
                all.extend(grouped(rows.map_err(shared)?, |row| CallsOf(subject_type, row.subject_id)));
            }
        }
        Ok(all)
    }
}

impl Loader<RefundsOfPayment> for Reads {
    type Value = Vec<Refund>;
    type Error = Cause;

    async fn load(&self, keys: &[RefundsOfPayment]) -> Result<HashMap<RefundsOfPayment, Vec<Refund>>, Cause> {
        let ids: Vec<_> = keys.iter().map(|key| key.0).collect();
        let mut conn = self.0.read().await.map_err(shared)?;
        let rows = payments::refunds_of(&mut conn, &ids).await.map_err(shared)?;
        Ok(grouped(rows, |row| RefundsOfPayment(row.payment_id)))
    }
}

impl Loader<RefundById> for Reads {
    type Value = Refund;
    type Error = Cause;

    async fn load(&self, keys: &[RefundById]) -> Result<HashMap<RefundById, Refund>, Cause> {
        let ids: Vec<_> = keys.iter().map(|key| key.0).collect();
        let mut conn = self.0.read().await.map_err(shared)?;
        let rows = payments::refunds_by_ids(&mut conn, &ids).await.map_err(shared)?;
        Ok(rows.into_iter().map(|row| (RefundById(row.id), row)).collect())
    }
}

impl Loader<PaymentById> for Reads {
    type Value = Payment;
    type Error = Cause;

    async fn load(&self, keys: &[PaymentById]) -> Result<HashMap<PaymentById, Payment>, Cause> {
        let ids: Vec<_> = keys.iter().map(|key| key.0).collect();
        let mut conn = self.0.read().await.map_err(shared)?;
        let rows = payments::by_ids(&mut conn, &ids).await.map_err(shared)?;
        Ok(rows.into_iter().map(|row| (PaymentById(row.id), row)).collect())
    }
}

impl Loader<EventById> for Reads {
    type Value = OutboxEvent;
    type Error = Cause;

    async fn load(&self, keys: &[EventById]) -> Result<HashMap<EventById, OutboxEvent>, Cause> {
        let ids: Vec<_> = keys.iter().map(|key| key.0).collect();
        let mut conn = self.0.read().await.map_err(shared)?;
        let rows = outbox::by_ids(&mut conn, &ids).await.map_err(shared)?;
        Ok(rows.into_iter().map(|row| (EventById(row.id), row)).collect())
    }
}

impl Loader<PayloadOf> for Reads {
    type Value = String;
    type Error = Cause;

    async fn load(&self, keys: &[PayloadOf]) -> Result<HashMap<PayloadOf, String>, Cause> {
        let ids: Vec<_> = keys.iter().map(|key| key.0).collect();
        let mut conn = self.0.read().await.map_err(shared)?;
        let rows = outbox::payloads(&mut conn, &ids).await.map_err(shared)?;
        Ok(rows.into_iter().map(|(id, payload)| (PayloadOf(id), payload)).collect())
    }
}

impl Loader<DeadLetterById> for Reads {
    type Value = InboundDeadLetter;
    type Error = Cause;

    async fn load(
        &self,
        keys: &[DeadLetterById],
    ) -> Result<HashMap<DeadLetterById, InboundDeadLetter>, Cause> {
        let ids: Vec<_> = keys.iter().map(|key| key.0).collect();
        let mut conn = self.0.read().await.map_err(shared)?;
        let rows = inbox::by_ids(&mut conn, &ids).await.map_err(shared)?;
        Ok(rows.into_iter().map(|row| (DeadLetterById(row.id), row)).collect())
    }
}

impl Loader<BodySizeOf> for Reads {
    type Value = u64;
    type Error = Cause;

    async fn load(&self, keys: &[BodySizeOf]) -> Result<HashMap<BodySizeOf, u64>, Cause> {
        let ids: Vec<_> = keys.iter().map(|key| key.0).collect();
        let mut conn = self.0.read().await.map_err(shared)?;
        let rows = inbox::body_sizes(&mut conn, &ids).await.map_err(shared)?;
        Ok(rows.into_iter().map(|(id, size)| (BodySizeOf(id), size.unsigned_abs().into())).collect())
    }
}

impl Loader<BodyOf> for Reads {
    type Value = Arc<[u8]>;
    type Error = Cause;

    async fn load(&self, keys: &[BodyOf]) -> Result<HashMap<BodyOf, Arc<[u8]>>, Cause> {
        let ids: Vec<_> = keys.iter().map(|key| key.0).collect();
        let mut conn = self.0.read().await.map_err(shared)?;
        let rows = inbox::bodies(&mut conn, &ids).await.map_err(shared)?;
        Ok(rows.into_iter().map(|(id, body)| (BodyOf(id), body.into())).collect())
    }
}

impl Loader<ChargeById> for Reads {
    type Value = Charge;
    type Error = Cause;

    async fn load(&self, keys: &[ChargeById]) -> Result<HashMap<ChargeById, Charge>, Cause> {
        let ids: Vec<_> = keys.iter().map(|key| key.0).collect();
        let mut conn = self.0.read().await.map_err(shared)?;
        let rows = charges::by_ids(&mut conn, &ids).await.map_err(shared)?;
        Ok(rows.into_iter().map(|row| (ChargeById(row.id), row)).collect())
    }
}

impl Loader<ChargeJobById> for Reads {
    type Value = ChargeJob;
    type Error = Cause;

    async fn load(&self, keys: &[ChargeJobById]) -> Result<HashMap<ChargeJobById, ChargeJob>, Cause> {
        let ids: Vec<_> = keys.iter().map(|key| key.0).collect();
        let mut conn = self.0.read().await.map_err(shared)?;
        let rows = charges::jobs_by_ids(&mut conn, &ids).await.map_err(shared)?;
        Ok(rows.into_iter().map(|row| (ChargeJobById(row.id), row)).collect())
    }
}

impl Loader<JobsOfCharge> for Reads {
    type Value = Vec<ChargeJob>;
    type Error = Cause;

    async fn load(&self, keys: &[JobsOfCharge]) -> Result<HashMap<JobsOfCharge, Vec<ChargeJob>>, Cause> {
        let ids: Vec<_> = keys.iter().map(|key| key.0).collect();
        let mut conn = self.0.read().await.map_err(shared)?;
        let rows = charges::jobs_of_charges(&mut conn, &ids).await.map_err(shared)?;
        Ok(grouped(rows, |row| JobsOfCharge(row.source_charge_id)))
    }
}

impl Loader<MemberById> for Reads {
    type Value = Member;
    type Error = Cause;

    async fn load(&self, keys: &[MemberById]) -> Result<HashMap<MemberById, Member>, Cause> {
        let ids: Vec<_> = keys.iter().map(|key| key.0).collect();
        let mut conn = self.0.read().await.map_err(shared)?;
        let rows = charges::members_by_ids(&mut conn, &ids).await.map_err(shared)?;
        Ok(rows.into_iter().map(|row| (MemberById(row.id), row)).collect())
    }
}

impl Loader<WalletsOf> for Reads {
    type Value = Vec<Wallet>;
    type Error = Cause;

    async fn load(&self, keys: &[WalletsOf]) -> Result<HashMap<WalletsOf, Vec<Wallet>>, Cause> {
        let ids: Vec<_> = keys.iter().map(|key| key.0).collect();
        let mut conn = self.0.read().await.map_err(shared)?;
        let rows = charges::wallets_of(&mut conn, &ids).await.map_err(shared)?;
        Ok(grouped(rows, |row| WalletsOf(row.member_id)))
    }
}

impl Loader<LedgerOf> for Reads {
    type Value = PageRows<LedgerEntry>;
    type Error = Cause;

    async fn load(&self, keys: &[LedgerOf]) -> Result<HashMap<LedgerOf, PageRows<LedgerEntry>>, Cause> {
        let mut members: HashMap<PageRequest, Vec<i64>> = HashMap::new();
        for LedgerOf(member_id, request) in keys {
            members.entry(*request).or_default().push(*member_id);
        }
        let mut conn = self.0.read().await.map_err(shared)?;
        let mut all = HashMap::new();
        for (request, ids) in members {
            let pages = charges::ledgers_of(&mut conn, &ids, &request).await.map_err(shared)?;
            all.extend(pages.into_iter().map(|(id, page)| (LedgerOf(id, request), page)));
        }
        Ok(all)
    }
}

impl Loader<LedgerCountOf> for Reads {
    type Value = i64;
    type Error = Cause;

    async fn load(&self, keys: &[LedgerCountOf]) -> Result<HashMap<LedgerCountOf, i64>, Cause> {
        let ids: Vec<_> = keys.iter().map(|key| key.0).collect();
        let mut conn = self.0.read().await.map_err(shared)?;
        let counts = charges::ledger_counts_of(&mut conn, &ids, COUNT_CAP).await.map_err(shared)?;
        Ok(counts.into_iter().map(|(id, count)| (LedgerCountOf(id), count)).collect())
    }
}

impl Loader<PromotionById> for Reads {
    type Value = ChargeEvent;
    type Error = Cause;

    async fn load(&self, keys: &[PromotionById]) -> Result<HashMap<PromotionById, ChargeEvent>, Cause> {
        let ids: Vec<_> = keys.iter().map(|key| key.0).collect();
        let mut conn = self.0.read().await.map_err(shared)?;
        let rows = charges::promotions_by_ids(&mut conn, &ids).await.map_err(shared)?;
        Ok(rows.into_iter().map(|row| (PromotionById(row.id), row)).collect())
    }
}

impl Loader<AnyActivePromotion> for Reads {
    type Value = bool;
    type Error = Cause;

    async fn load(&self, keys: &[AnyActivePromotion]) -> Result<HashMap<AnyActivePromotion, bool>, Cause> {
        let mut conn = self.0.read().await.map_err(shared)?;
        let mut all = HashMap::new();
        for key in keys {
            all.insert(*key, charges::is_any_active(&mut conn, key.0).await.map_err(shared)?);
        }
        Ok(all)
    }
}
