//! Charges: can that members buy at five gateways, credited once by one rule, and the bonuses that promotions give.
//!
//! Locks are taken in the order charge → member → job, always.

mod completion;
mod consume;
mod job;
mod list;
mod member;
mod model;
mod notice;
mod product;
mod promotion;
mod reconcile;
mod reference;
mod request;
mod store;
mod wallet;

use std::{sync::Arc, time::Duration};

use tokio::sync::Notify;

use crate::{config::ChargeConfig, db::Database, gateways::PurchaseGateways, workers::Tasks};

pub use completion::{ChargeAnswer, CompleteError, Presented, Refused, RefusedCode};
pub use consume::GoogleConsume;
pub use job::{
    ChargeJob, ChargeJobFilter, ChargeJobGauges, ChargeJobRecovery, ChargeJobRows, ChargeJobStatus,
    ChargeJobType, ChargeJobs, RetryJobError, RunSummary, find_job, job_waits_for, jobs_by_ids,
    jobs_of_charges,
};
pub use list::{ChargeFilter, by_ids, find};
pub use member::{Member, MemberInput, UpsertMemberError, find_member, members_by_ids};
pub use model::{Charge, ChargePaymentStatus, ChargeStatus, Container};
pub use notice::{NoticeError, Noticed};
pub use product::{CanProduct, CanProductInput, ProductChange, UpsertProductError, products};
pub use promotion::{
    ChargeEvent, ChargeEventInput, PromotionChange, PromotionError, PromotionFilter, is_any_active,
    promotions_by_ids,
};
pub use reconcile::ChargeReconciler;
pub use request::{RequestChargeError, RequestChargeInput, RequestedCharge};
pub use wallet::{LedgerEntry, LedgerKind, Wallet, ledger_counts_of, ledgers_of, wallets_of};

/// Calls until the gateway has heard that it is to approve, each of which may time out: a token, a look and the approval,
/// each again when the token is refused; and some for good measure.
const APPROVAL_CALLS: u32 = 10;

/// The charges' use cases.
#[derive(Clone)]
pub struct Charges {
    db: Database,
    gateways: PurchaseGateways,
    tasks: Tasks,
    config: Arc<ChargeConfig>,
    /// How long whoever approves a purchase has it for itself. After that it is taken to be dead.
    approval_lease: Duration,
    /// A Google purchase was credited and is to be consumed.
    credited: Arc<Notify>,
}

impl Charges {
    /// The use cases over this database and these gateways, of which each call takes `provider_timeout` at most.
    pub fn new(
        db: Database,
        gateways: PurchaseGateways,
        tasks: Tasks,
        config: ChargeConfig,
        provider_timeout: Duration,
    ) -> Self {
        let approval_lease = provider_timeout.saturating_mul(APPROVAL_CALLS);
        Self { db, gateways, tasks, config: Arc::new(config), approval_lease, credited: Arc::default() }
    }

    /// What a member's first charge earns, in percent of its can; 0: nothing.
    pub fn first_charge_percent(&self) -> i32 {
        self.config.first_charge_percent
    }
}
