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

use std::sync::Arc;

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

/// The charges' use cases.
#[derive(Clone)]
pub struct Charges {
    db: Database,
    gateways: PurchaseGateways,
    tasks: Tasks,
    config: Arc<ChargeConfig>,
    /// A Google purchase was credited and is to be consumed.
    credited: Arc<Notify>,
}

impl Charges {
    /// The use cases over this database and these gateways.
    pub fn new(db: Database, gateways: PurchaseGateways, tasks: Tasks, config: ChargeConfig) -> Self {
        Self { db, gateways, tasks, config: Arc::new(config), credited: Arc::default() }
    }

    /// What a member's first charge earns, in percent of its can; 0: nothing.
    pub fn first_charge_percent(&self) -> i32 {
        self.config.first_charge_percent
    }
}
