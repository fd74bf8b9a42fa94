//! Toss's own books: payments, balances, cancels, and the Payment object (gateways.md §1.5).

use std::collections::HashMap;

use chrono::FixedOffset;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    cancel::Cancellation,
    fault::{Fault, Language},
    key_in::Charge,
};
use crate::types::{Instant, clock};

const SEOUL_OFFSET_SECONDS: i32 = 9 * 3600;

/// What a lookup goes by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reference {
    PaymentKey(String),
    OrderId(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Done,
    PartialCanceled,
    Canceled,
}

impl Status {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Done => "DONE",
            Self::PartialCanceled => "PARTIAL_CANCELED",
            Self::Canceled => "CANCELED",
        }
    }
}

/// A payment that was approved once. Of its card it keeps the masked number only.
#[derive(Debug)]
pub(super) struct Payment {
    payment_key: String,
    pub(super) order_id: String,
    order_name: String,
    total: i64,
    pub(super) balance: i64,
    pub(super) status: Status,
    masked_number: String,
    installments: i64,
    approve_number: String,
    approved_at: String,
    last_transaction: String,
    cancels: Vec<Value>,
}

/// All payments, oldest first. Nothing stops two payments of one order: only the idempotency key does.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    payments: Vec<Payment>,
    by_key: HashMap<String, usize>,
    /// The latest payment of each order.
    by_order: HashMap<String, usize>,
    transactions: u64,
}

impl Ledger {
    /// Charges the card.
    pub(super) fn charge(&mut self, charge: &Charge) -> &Payment {
        let now = clock::now();
        let payment = Payment {
            payment_key: format!("sim{}{}", now.format("%Y%m%d%H%M%S"), Uuid::new_v4().simple()),
            order_id: charge.order_id.clone(),
            order_name: charge.order_name.clone(),
            total: charge.amount,
            balance: charge.amount,
            status: Status::Done,
            masked_number: charge.masked_number(),
            installments: charge.installments,
            last_transaction: self.next_transaction(),
            approve_number: format!("{:08}", self.transactions),
            approved_at: seoul(now),
            cancels: Vec::new(),
        };
        let index = self.payments.len();
        self.by_key.insert(payment.payment_key.clone(), index);
        self.by_order.insert(payment.order_id.clone(), index);
        self.payments.push_mut(payment)
    }

    /// Gives money back, in part or in full.
    pub(super) fn cancel(&mut self, cancellation: &Cancellation) -> Result<&Payment, Fault> {
        let transaction = self.next_transaction();
        let payment = self
            .by_key
            .get(&cancellation.payment_key)
            .and_then(|index| self.payments.get_mut(*index))
            .ok_or_else(|| Fault::of("NOT_FOUND_PAYMENT"))?;
        let amount = cancellation.amount_of(payment)?;
        payment.cancel(amount, &cancellation.reason, transaction);
        Ok(payment)
    }

    /// The payment with this key, or the latest one of this order.
    pub(super) fn find(&self, reference: &Reference) -> Option<&Payment> {
        let index = match reference {
            Reference::PaymentKey(key) => self.by_key.get(key),
            Reference::OrderId(order_id) => self.by_order.get(order_id),
        };
        index.and_then(|index| self.payments.get(*index))
    }

    /// The books as `/_control/payments` shows them, in whole won.
    pub(super) fn books(&self) -> Vec<Value> {
        let row = |payment: &Payment| {
            json!({
                "gateway": super::GATEWAY,
                "orderId": payment.order_id,
                "paymentKey": payment.payment_key,
                "status": payment.status.as_str(),
                "paid": payment.total,
                "cancelled": payment.total - payment.balance,
            })
        };
        self.payments.iter().map(row).collect()
    }

    fn next_transaction(&mut self) -> String {
        self.transactions += 1;
        format!("SIMTX{:08}", self.transactions)
    }
}

impl Payment {
    fn cancel(&mut self, amount: i64, reason: &str, transaction: String) {
        self.status = if amount == self.total { Status::Canceled } else { Status::PartialCanceled };
        self.balance -= amount;
        self.cancels.push(json!({
            "transactionKey": transaction,
            "cancelAmount": amount,
            "cancelReason": reason,
            "taxFreeAmount": 0,
            "taxExemptionAmount": 0,
            "refundableAmount": self.balance,
            "easyPayDiscountAmount": 0,
            "canceledAt": seoul(clock::now()),
            "receiptKey": null,
            "cancelStatus": "DONE",
            "cancelRequestId": null,
        }));
        self.last_transaction = transaction;
    }

    /// The Payment object.
    pub(super) fn json(&self, language: Language) -> Value {
        let vat = self.total / 11;
        let method = match language {
            Language::Korean => "카드",
            Language::English => "Card",
        };
        let cancels = if self.cancels.is_empty() { Value::Null } else { Value::from(self.cancels.clone()) };
        json!({
            "mId": "simmerchant",
            "version": "2022-11-16",
            "paymentKey": self.payment_key,
            "lastTransactionKey": self.last_transaction,
            "type": "NORMAL",
            "orderId": self.order_id,
            "orderName": self.order_name,
            "currency": "KRW",
            "method": method,
            "totalAmount": self.total,
            "balanceAmount": self.balance,
            "suppliedAmount": self.total - vat,
            "vat": vat,
            "taxFreeAmount": 0,
            "taxExemptionAmount": 0,
            "status": self.status.as_str(),
            "requestedAt": self.approved_at,
            "approvedAt": self.approved_at,
            "useEscrow": false,
            "cultureExpense": false,
            "isPartialCancelable": true,
            "country": "KR",
            "card": self.card(),
            "cancels": cancels,
            "receipt": null,
            "checkout": null,
            "failure": null,
            "secret": null,
            "metadata": null,
            "virtualAccount": null,
            "transfer": null,
            "mobilePhone": null,
            "giftCertificate": null,
            "easyPay": null,
            "cashReceipt": null,
            "cashReceipts": null,
            "discount": null,
        })
    }

    fn card(&self) -> Value {
        json!({
            "amount": self.total,
            "issuerCode": "21",
            "acquirerCode": "21",
            "number": self.masked_number,
            "installmentPlanMonths": self.installments,
            "approveNo": self.approve_number,
            "useCardPoint": false,
            "cardType": "신용",
            "ownerType": "개인",
            "acquireStatus": "READY",
            "isInterestFree": false,
            "interestPayer": null,
        })
    }
}

/// Korean time, as Toss writes it.
fn seoul(instant: Instant) -> String {
    FixedOffset::east_opt(SEOUL_OFFSET_SECONDS).map_or_else(
        || instant.to_rfc3339(),
        |zone| instant.with_timezone(&zone).format("%Y-%m-%dT%H:%M:%S%:z").to_string(),
    )
}
