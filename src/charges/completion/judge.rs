//! What a gateway's answer comes to, as a pure function.

use super::{Refused, RefusedCode};
use crate::{
    failures::FailureKind,
    gateways::{Purchase, PurchaseOrder, PurchaseOutcome, Refusal, RefusalReason},
};

/// What a gateway's answer comes to for an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It pays for the order.
    Pays(Purchase),
    /// Somebody paid, and it does not agree with the order.
    Differs(Purchase, Refused),
    /// It will pay for the order once we approve it.
    AwaitsApproval,
    /// Nothing to credit.
    Nothing {
        /// Why, for the caller.
        refused: Refused,
        /// The failure that operators must see, if it is one.
        alarm: Option<FailureKind>,
        /// Whether the same question may get another answer later.
        again: Again,
    },
}

/// Whether the same question may get another answer later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    /// The answer is final.
    Never,
    /// Nothing is paid as it stands; that may change.
    Later,
    /// Nobody knows: money may be moving.
    Unknown,
}

/// Judges what a gateway says against the order.
pub(super) fn judge(order: &PurchaseOrder<'_>, outcome: PurchaseOutcome) -> Verdict {
    let nothing = |code, refusal: Refusal, again| Verdict::Nothing {
        refused: Refused::new(code, refusal.message),
        alarm: None,
        again,
    };
    match outcome {
        PurchaseOutcome::Paid(purchase) => match purchase.check(order) {
            Ok(()) => Verdict::Pays(purchase),
            Err(mismatch) => {
                let message = "somebody paid, but the purchase does not agree with the charge";
                Verdict::Differs(purchase, Refused::new(code(mismatch.code()), message))
            }
        },
        PurchaseOutcome::AwaitsApproval(purchase) => match purchase.check(order) {
            Ok(()) => Verdict::AwaitsApproval,
            Err(mismatch) => {
                let message = "what awaits approval is not what the charge asks for; it is not approved";
                let refused = Refused::new(code(mismatch.code()), message);
                Verdict::Nothing { refused, alarm: None, again: Again::Never }
            }
        },
        PurchaseOutcome::Pending(refusal) => nothing(RefusedCode::PurchasePending, refusal, Again::Unknown),
        PurchaseOutcome::Cancelled(refusal) => nothing(RefusedCode::PurchaseCanceled, refusal, Again::Never),
        PurchaseOutcome::NotPaid(refusal) => nothing(RefusedCode::ChargeNotPaid, refusal, Again::Later),
        // A gateway may come to know a payment only moments after the payer does.
        PurchaseOutcome::NotFound(refusal) => nothing(RefusedCode::ChargeNotPaid, refusal, Again::Unknown),
        PurchaseOutcome::Refused(refusal) => Verdict::Nothing {
            refused: Refused::new(code(refusal.reason.code()), refusal.message),
            alarm: (refusal.reason == RefusalReason::OtherProduct).then_some(FailureKind::ChargeMismatch),
            again: Again::Never,
        },
        PurchaseOutcome::Unknown(refusal) => {
            nothing(RefusedCode::GatewayUnavailable, refusal, Again::Unknown)
        }
        PurchaseOutcome::Misconfigured(refusal) => Verdict::Nothing {
            refused: Refused::new(RefusedCode::GatewayMisconfigured, refusal.message),
            alarm: Some(FailureKind::GatewayMisconfigured),
            again: Again::Unknown,
        },
    }
}

/// The gateways' codes are the API's.
fn code(text: &str) -> RefusedCode {
    RefusedCode::parse(text).unwrap_or(RefusedCode::ProductMismatch)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::{
        gateways::{Price, PurchaseRefusal, RefusalReason},
        types::{Won, clock},
    };

    fn purchase() -> Purchase {
        Purchase {
            transaction_id: "T1".to_owned(),
            order_id: Some("CHG1".to_owned()),
            price: Some(Price { amount: "11000".to_owned(), currency: Some("KRW".to_owned()) }),
            sku: None,
            quantity: 1,
            store_id: None,
            account: None,
            consumed: false,
            method: None,
        }
    }

    fn judged(outcome: PurchaseOutcome) -> Verdict {
        let order = PurchaseOrder {
            order_id: "CHG1",
            title: "Can 100",
            amount: Won::new(11_000).unwrap(),
            currency: "KRW",
            sku: "coin_100",
            account_token: Uuid::nil(),
            requested_at: clock::now(),
        };
        judge(&order, outcome)
    }

    fn refusal() -> Refusal {
        Refusal { code: "X".to_owned(), message: "why".to_owned() }
    }

    #[test]
    fn only_a_paid_purchase_that_agrees_pays() {
        assert_eq!(judged(PurchaseOutcome::Paid(purchase())), Verdict::Pays(purchase()));
        let differs = [
            (Purchase { order_id: Some("CHG2".to_owned()), ..purchase() }, RefusedCode::OwnerMismatch),
            (Purchase { account: Some("x".to_owned()), ..purchase() }, RefusedCode::OwnerMismatch),
            (
                Purchase { price: Some(Price { amount: "1".to_owned(), currency: None }), ..purchase() },
                RefusedCode::AmountMismatch,
            ),
            (
                Purchase {
                    price: Some(Price { amount: "11000".to_owned(), currency: Some("USD".to_owned()) }),
                    ..purchase()
                },
                RefusedCode::CurrencyMismatch,
            ),
            (Purchase { sku: Some("coin_10".to_owned()), ..purchase() }, RefusedCode::ProductMismatch),
            (Purchase { quantity: 0, ..purchase() }, RefusedCode::ProductMismatch),
            (Purchase { consumed: true, ..purchase() }, RefusedCode::TransactionAlreadyUsed),
        ];
        for (purchase, code) in differs {
            match judged(PurchaseOutcome::Paid(purchase.clone())) {
                Verdict::Differs(found, refused) => assert_eq!((found, refused.code), (purchase, code)),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn everything_else_credits_nothing_and_says_whether_to_ask_again() {
        let refused =
            |reason| PurchaseOutcome::Refused(PurchaseRefusal { reason, message: "why".to_owned() });
        let cases = [
            (PurchaseOutcome::Pending(refusal()), RefusedCode::PurchasePending, Again::Unknown),
            (PurchaseOutcome::Cancelled(refusal()), RefusedCode::PurchaseCanceled, Again::Never),
            (PurchaseOutcome::NotPaid(refusal()), RefusedCode::ChargeNotPaid, Again::Later),
            (PurchaseOutcome::NotFound(refusal()), RefusedCode::ChargeNotPaid, Again::Unknown),
            (PurchaseOutcome::Unknown(refusal()), RefusedCode::GatewayUnavailable, Again::Unknown),
            (PurchaseOutcome::Misconfigured(refusal()), RefusedCode::GatewayMisconfigured, Again::Unknown),
            (refused(RefusalReason::Signature), RefusedCode::SignatureInvalid, Again::Never),
            (refused(RefusalReason::Sandbox), RefusedCode::SandboxRefused, Again::Never),
            (refused(RefusalReason::Foreign), RefusedCode::ProductMismatch, Again::Never),
            (refused(RefusalReason::NotOwned), RefusedCode::OwnerMismatch, Again::Never),
            (refused(RefusalReason::Unusable), RefusedCode::ChargeNotPaid, Again::Never),
            (
                PurchaseOutcome::AwaitsApproval(Purchase { quantity: 0, ..purchase() }),
                RefusedCode::ProductMismatch,
                Again::Never,
            ),
        ];
        assert_eq!(judged(PurchaseOutcome::AwaitsApproval(purchase())), Verdict::AwaitsApproval);
        for (outcome, code, expected) in cases {
            match judged(outcome) {
                Verdict::Nothing { refused, again, .. } => {
                    assert_eq!((refused.code, again), (code, expected));
                }
                other => panic!("{other:?}"),
            }
        }
    }
}
