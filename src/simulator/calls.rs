//! The calls that the gateways got, for tests and the curious. Never card data.

use serde::Serialize;

use crate::types::{Instant, clock};

/// One call, as `/_control/calls` shows it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CallRow {
    #[serde(skip)]
    number: u64,
    pub(super) gateway: &'static str,
    operation: &'static str,
    idempotency_key: Option<String>,
    order_id: Option<String>,
    amount: Option<i64>,
    outcome: String,
    at: Instant,
}

/// What a call says of itself when it arrives.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) gateway: &'static str,
    pub(super) operation: &'static str,
    pub(super) idempotency_key: Option<String>,
    pub(super) order_id: Option<String>,
    pub(super) amount: Option<i64>,
}

/// All calls since the last reset, oldest first.
#[derive(Debug, Default)]
pub(super) struct Calls {
    rows: Vec<CallRow>,
    last_number: u64,
}

impl Calls {
    /// Writes down that a call came in, and gives it its number. Until it ends its outcome is `RUNNING`.
    pub(super) fn begin(&mut self, arrival: Arrival) -> u64 {
        self.last_number += 1;
        self.rows.push(CallRow {
            number: self.last_number,
            gateway: arrival.gateway,
            operation: arrival.operation,
            idempotency_key: arrival.idempotency_key,
            order_id: arrival.order_id,
            amount: arrival.amount,
            outcome: "RUNNING".to_owned(),
            at: clock::now(),
        });
        self.last_number
    }

    /// Writes down how a call ended; one from before a reset is forgotten.
    pub(super) fn finish(&mut self, number: u64, outcome: &str) {
        if let Some(row) = self.rows.iter_mut().rev().find(|row| row.number == number) {
            outcome.clone_into(&mut row.outcome);
        }
    }

    /// The calls of one gateway, or of all.
    pub(super) fn list(&self, gateway: Option<&str>) -> Vec<CallRow> {
        self.rows.iter().filter(|row| gateway.is_none_or(|name| row.gateway == name)).cloned().collect()
    }

    /// Forgets all calls; the numbers go on, so that a call from before cannot end one from after.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
    }
}
