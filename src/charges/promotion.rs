//! Promotions: what a completed charge earns, and how operators make and change them.

mod list;

use chrono::Datelike;
use diesel::{
    Insertable, OptionalExtension, QueryDsl, QueryableByName, SelectableHelper,
    pg::Pg,
    prelude::{AsChangeset, Queryable, Selectable},
    result::QueryResult,
    sql_types::{BigInt, Bool, Integer, Text},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use serde_json::json;
use thiserror::Error;

use super::{Charge, ChargeJobType, Charges};
use crate::{
    audit::{self, Deed},
    auth::AdminPrincipal,
    db::{DbError, Statement, schema::charge_event},
    failures::SubjectType,
    types::Instant,
};

pub use list::{PromotionFilter, promotions_by_ids};

/// Promotions begin and end in these years.
const FIRST_YEAR: i32 = 1900;
const LAST_YEAR: i32 = 9998;
/// The most that a promotion adds, in percent.
const MAX_PERCENT: i32 = 1_000;

/// A promotion.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = charge_event, check_for_backend(Pg))]
pub struct ChargeEvent {
    /// Primary key.
    pub id: i64,
    /// What operators and buyers know it by.
    pub title: String,
    /// From this moment on.
    pub start_at: Instant,
    /// Before this moment.
    pub end_at: Instant,
    /// The bonus in percent, rounded down.
    pub add_percent: i32,
    /// How often a member may use it; 0: without limit.
    pub available_count: i32,
    /// Whether it counts at all.
    pub is_active: bool,
    /// When it was written.
    pub created_at: Instant,
    /// When it last changed.
    pub updated_at: Instant,
}

/// What a promotion is made or changed with.
#[derive(Debug, Clone, Insertable, AsChangeset)]
#[diesel(table_name = charge_event)]
pub struct ChargeEventInput {
    /// 1 to 100 characters.
    pub title: String,
    /// From this moment on.
    pub start_at: Instant,
    /// Before this moment.
    pub end_at: Instant,
    /// 1 to 1,000.
    pub add_percent: i32,
    /// 0: without limit.
    pub available_count: i32,
    /// Whether it counts at all.
    pub is_active: bool,
}

/// Why a promotion was not written.
#[derive(Debug, Error)]
pub enum PromotionError {
    /// A field cannot be worked with.
    #[error("{message}")]
    InvalidInput {
        /// The field, as the API names it.
        field: &'static str,
        /// What it must be.
        message: String,
    },
    /// There is no such promotion.
    #[error("there is no charge event {0}")]
    NotFound(i64),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DbError),
}

impl From<diesel::result::Error> for PromotionError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Database(error.into())
    }
}

impl ChargeEventInput {
    fn check(&self) -> Result<(), PromotionError> {
        let invalid = |field, message: String| Err(PromotionError::InvalidInput { field, message });
        if !(1..=100).contains(&self.title.trim().chars().count()) || self.title.contains('\0') {
            return invalid("title", "the title must have 1 to 100 characters, and no NUL".to_owned());
        }
        for (field, at) in [("startAt", self.start_at), ("endAt", self.end_at)] {
            if !(FIRST_YEAR..=LAST_YEAR).contains(&at.year()) {
                let message = format!("{field} must be from the year {FIRST_YEAR} to {LAST_YEAR}");
                return invalid(field, message);
            }
        }
        if self.start_at >= self.end_at {
            return invalid("endAt", "endAt must be after startAt".to_owned());
        }
        if !(1..=MAX_PERCENT).contains(&self.add_percent) {
            return invalid("addPercent", format!("addPercent must be from 1 to {MAX_PERCENT}"));
        }
        if self.available_count < 0 {
            return invalid("availableCount", "availableCount must be 0 (without limit) or more".to_owned());
        }
        Ok(())
    }
}

impl Charges {
    /// Makes a promotion. Audited.
    pub async fn create_promotion(
        &self,
        admin: &AdminPrincipal,
        input: ChargeEventInput,
        request_id: &str,
    ) -> Result<ChargeEvent, PromotionError> {
        input.check()?;
        let mut tx = self.db.begin().await?;
        let made: ChargeEvent = diesel::insert_into(charge_event::table)
            .values(input)
            .returning(ChargeEvent::as_returning())
            .get_result(tx.conn())
            .await?;
        audit_change(tx.conn(), admin, "createChargeEvent", None, &made, request_id).await?;
        tx.commit().await?;
        Ok(made)
    }

    /// Changes a promotion for charges from now on: what was earned before keeps its amount. Audited.
    pub async fn update_promotion(
        &self,
        admin: &AdminPrincipal,
        id: i64,
        input: ChargeEventInput,
        request_id: &str,
    ) -> Result<ChargeEvent, PromotionError> {
        input.check()?;
        let mut tx = self.db.begin().await?;
        let before: Option<ChargeEvent> = charge_event::table
            .find(id)
            .select(ChargeEvent::as_select())
            .for_no_key_update()
            .first(tx.conn())
            .await
            .optional()?;
        let Some(before) = before else {
            tx.rollback().await?;
            return Err(PromotionError::NotFound(id));
        };
        let after: ChargeEvent = diesel::update(charge_event::table.find(id))
            .set(input)
            .returning(ChargeEvent::as_returning())
            .get_result(tx.conn())
            .await?;
        audit_change(tx.conn(), admin, "updateChargeEvent", Some(&before), &after, request_id).await?;
        tx.commit().await?;
        Ok(after)
    }
}

async fn audit_change(
    conn: &mut AsyncPgConnection,
    admin: &AdminPrincipal,
    action: &'static str,
    before: Option<&ChargeEvent>,
    after: &ChargeEvent,
    request_id: &str,
) -> QueryResult<()> {
    let state = |event: &ChargeEvent| {
        json!({
            "title": event.title, "startAt": event.start_at, "endAt": event.end_at, "addPercent": event.add_percent,
            "availableCount": event.available_count, "isActive": event.is_active,
        })
    };
    let deed = Deed {
        action,
        target_type: SubjectType::ChargeEvent.as_str(),
        target_id: after.id.to_string(),
        reason: None,
        before: before.map(state),
        after: Some(state(after)),
        request_id,
        flow_id: None,
    };
    audit::record(conn, admin, deed).await
}

/// Whether a bonus can be earned now: what the worker asks before it looks for jobs.
pub async fn is_any_active(conn: &mut AsyncPgConnection, first_charge_percent: i32) -> QueryResult<bool> {
    #[derive(QueryableByName)]
    struct Active {
        #[diesel(sql_type = Bool)]
        active: bool,
    }
    if first_charge_percent > 0 {
        return Ok(true);
    }
    let row: Active = Statement::new(
        "SELECT EXISTS (SELECT FROM charge_event WHERE is_active AND start_at <= now() AND end_at > now()) AS active",
    )
    .get_result(conn)
    .await?;
    Ok(row.active)
}

/// A bonus that a charge has earned: the snapshot that its job keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Earned {
    pub(super) job_type: ChargeJobType,
    pub(super) charge_event_id: Option<i64>,
    pub(super) additional_can: i64,
    pub(super) method_snapshot: String,
}

/// A promotion that applies, and how often the member has used it.
#[derive(Debug, Clone, QueryableByName)]
struct Applying {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    title: String,
    #[diesel(sql_type = Integer)]
    add_percent: i32,
    #[diesel(sql_type = Integer)]
    available_count: i32,
    #[diesel(sql_type = BigInt)]
    used: i64,
}

impl Applying {
    fn is_used_up(&self) -> bool {
        self.available_count > 0 && self.used >= i64::from(self.available_count)
    }
}

/// What a charge that this transaction completes has earned. The caller holds the member's lock, so that two charges at
/// once do not both find a use left.
pub(super) async fn earned(
    conn: &mut AsyncPgConnection,
    charge: &Charge,
    first_charge_percent: i32,
) -> QueryResult<Vec<Earned>> {
    let is_first = first_charge_percent > 0 && is_first(conn, charge).await?;
    let applying = applying(conn, charge.member_id).await?;
    Ok(earned_by(charge.can, is_first.then_some(first_charge_percent), &applying))
}

/// The decision itself. What comes to less than one can is nothing.
fn earned_by(can: i64, first_charge_percent: Option<i32>, applying: &[Applying]) -> Vec<Earned> {
    let first = first_charge_percent.map(|percent| Earned {
        job_type: ChargeJobType::FirstCharge,
        charge_event_id: None,
        additional_can: bonus(can, percent),
        method_snapshot: format!("First charge +{percent}%"),
    });
    let events = applying.iter().filter(|event| !event.is_used_up()).map(|event| Earned {
        job_type: ChargeJobType::ActiveChargeEvent,
        charge_event_id: Some(event.id),
        additional_can: bonus(can, event.add_percent),
        method_snapshot: format!("{} +{}%", event.title, event.add_percent),
    });
    first.into_iter().chain(events).filter(|earned| earned.additional_can > 0).collect()
}

/// `can × percent / 100`, rounded down.
fn bonus(can: i64, percent: i32) -> i64 {
    i64::try_from(i128::from(can) * i128::from(percent) / 100).unwrap_or(i64::MAX)
}

/// The promotions that are active in this moment of the transaction, each with the member's uses: jobs that are not done,
/// or done with a bonus within the promotion's period.
async fn applying(conn: &mut AsyncPgConnection, member_id: i64) -> QueryResult<Vec<Applying>> {
    Statement::new(
        "SELECT e.id, e.title, e.add_percent, e.available_count,
                CASE WHEN e.available_count = 0 THEN 0 ELSE (
                    SELECT count(*) FROM charge_event_job j LEFT JOIN charge bonus ON bonus.id = j.result_charge_id
                    WHERE j.member_id = $1 AND j.charge_event_id = e.id
                      AND (j.status <> 'DONE' OR (bonus.created_at >= e.start_at AND bonus.created_at < e.end_at))
                ) END AS used
         FROM charge_event e
         WHERE e.is_active AND e.start_at <= now() AND e.end_at > now()
         ORDER BY e.id",
    )
    .bind::<BigInt, _>(member_id)
    .load(conn)
    .await
}

/// Whether the member bought nothing before.
async fn is_first(conn: &mut AsyncPgConnection, charge: &Charge) -> QueryResult<bool> {
    #[derive(QueryableByName)]
    struct First {
        #[diesel(sql_type = Bool)]
        first: bool,
    }
    let row: First = Statement::new(
        "SELECT NOT EXISTS (SELECT FROM charge WHERE member_id = $1 AND status = 'CHARGE' AND payment_status = 'COMPLETE' AND id <> $2) AS first",
    )
    .bind::<BigInt, _>(charge.member_id)
    .bind::<BigInt, _>(charge.id)
    .get_result(conn)
    .await?;
    Ok(row.first)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn event(id: i64, add_percent: i32, available_count: i32, used: i64) -> Applying {
        Applying { id, title: "Spring".to_owned(), add_percent, available_count, used }
    }

    #[test]
    fn each_promotion_that_applies_earns_its_own_bonus_rounded_down() {
        let earned = earned_by(55, Some(10), &[event(1, 7, 0, 99), event(2, 1, 0, 0)]);
        let found: Vec<_> =
            earned.iter().map(|earned| (earned.charge_event_id, earned.additional_can)).collect();
        // 1 % of 55 is less than one can.
        assert_eq!(found, [(None, 5), (Some(1), 3)]);
        assert_eq!(earned[1].method_snapshot, "Spring +7%");
    }

    #[test]
    fn a_promotion_that_the_member_used_up_earns_nothing() {
        let events = [event(1, 10, 2, 1), event(2, 10, 2, 2), event(3, 10, 2, 3)];
        let found: Vec<_> =
            earned_by(100, None, &events).into_iter().map(|earned| earned.charge_event_id).collect();
        assert_eq!(found, [Some(1)]);
    }

    proptest! {
        #[test]
        fn a_bonus_is_never_more_than_its_percentage_and_at_most_one_less(can in 1_i64..=1_000_000_000, percent in 1..=MAX_PERCENT) {
            let bonus = bonus(can, percent);
            prop_assert!(bonus * 100 <= can * i64::from(percent));
            prop_assert!((bonus + 1) * 100 > can * i64::from(percent));
        }
    }
}
