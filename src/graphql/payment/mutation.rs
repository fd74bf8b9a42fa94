//! Changes of payments: inputs, payload, mutations.

use async_graphql::{Context, ID, InputObject, Object, SimpleObject};

use super::PaymentObject;
use crate::{
    graphql::{
        api::RequestId,
        error::ApiError,
        guard,
        input::{self, OperatorActionInput, UserError, UserErrorCode},
        scalars::Long,
        schema::Services,
    },
    payments::{self, GATEWAY_MISCONFIGURED, KeyInError, KeyInInput, ReconcileError},
    types::{Card, Won, parse_id},
};

/// A key-in payment.
#[derive(Debug, InputObject)]
pub struct CreateKeyInPaymentInput {
    /// 1 to 255 characters; the same again within 15 days has one effect and the same answer.
    pub idempotency_key: String,
    /// The payer, a positive whole number.
    pub user_id: ID,
    /// What is paid for, a positive whole number.
    pub meeting_id: ID,
    /// What the payer reads on the bill, 1 to 100 characters.
    pub order_name: String,
    /// Whole KRW, from 1 on.
    pub amount: Long,
    /// With what.
    pub card: CardInput,
}

/// Never stored, never logged.
#[derive(InputObject)]
pub struct CardInput {
    /// 12 to 20 digits.
    pub number: String,
    /// Two digits.
    pub expiration_year: String,
    /// Two digits, 01 to 12.
    pub expiration_month: String,
    /// The first two digits of the PIN, where the contract asks for them.
    pub password: Option<String>,
    /// Birth date (6 digits) or business number (10 digits), where the contract asks for it.
    pub identity_number: Option<String>,
}

impl std::fmt::Debug for CardInput {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("CardInput(redacted)")
    }
}

impl CreateKeyInPaymentInput {
    fn read(self) -> Result<KeyInInput, UserError> {
        let id = |field: &str, text: &ID| {
            parse_id(text).map_err(|error| UserError::invalid(&[field], format!("{field} {error}")))
        };
        let card = self.card;
        Ok(KeyInInput {
            user_id: id("userId", &self.user_id)?,
            meeting_id: id("meetingId", &self.meeting_id)?,
            amount: Won::new(self.amount.get())
                .map_err(|error| UserError::invalid(&["amount"], error.to_string()))?,
            card: Card::new(
                card.number,
                card.expiration_year,
                card.expiration_month,
                card.password,
                card.identity_number,
            )
            .map_err(|error| UserError::invalid(&["card", error.field], error.message))?,
            idempotency_key: self.idempotency_key,
            order_name: self.order_name,
        })
    }
}

/// What became of a payment's mutation.
#[derive(SimpleObject)]
pub struct PaymentPayload {
    /// The payment; also when it was declined (FAILED) or its outcome is unknown (PENDING).
    pub payment: Option<PaymentObject>,
    /// Whether an earlier request with the same key made it.
    pub replayed: bool,
    /// Why it was refused.
    pub user_errors: Vec<UserError>,
}

impl PaymentPayload {
    fn refused(error: UserError) -> Self {
        Self { payment: None, replayed: false, user_errors: vec![error] }
    }

    fn answered(answer: payments::PaymentAnswer) -> Self {
        let payment = answer.payment;
        let message = || payment.failure_message.clone().unwrap_or_else(|| "the payment failed".to_owned());
        let user_errors = match payment.failure_code.as_deref() {
            None => Vec::new(),
            Some(GATEWAY_MISCONFIGURED) => vec![UserError::new(
                UserErrorCode::GatewayMisconfigured,
                "the payment gateway refuses our configuration; no money moved",
            )],
            Some(_) => vec![UserError::new(UserErrorCode::PaymentDeclined, message())],
        };
        Self { replayed: answer.replayed, user_errors, payment: Some(PaymentObject(payment)) }
    }
}

/// Changes of payments.
#[derive(Default)]
pub struct PaymentMutation;

#[Object]
impl PaymentMutation {
    /// Takes a payment with a card in one call. Declined: the payment is there, FAILED, with PAYMENT_DECLINED. Outcome
    /// unknown: the payment is there, PENDING, without an error. SERVICE, ADMIN. Idempotent by `idempotencyKey` per
    /// caller for 15 days.
    async fn create_key_in_payment(
        &self,
        ctx: &Context<'_>,
        input: CreateKeyInPaymentInput,
    ) -> Result<PaymentPayload, ApiError> {
        let service = guard::service(ctx)?;
        let input = match input.read() {
            Ok(input) => input,
            Err(error) => return Ok(PaymentPayload::refused(error)),
        };
        let services = Services::of(ctx)?;
        let outcome = services.payments.create_key_in(&service, input).await;
        services.payment_watcher.hint();
        match outcome {
            Ok(answer) => Ok(PaymentPayload::answered(answer)),
            Err(error) => refusal(error).map(PaymentPayload::refused),
        }
    }

    /// Asks the provider now how a PENDING payment ended, or whether a FAILED one was approved after all, and finishes
    /// with what it says, as the reconciler would. The payment is answered as it is then, PENDING if the provider does
    /// not know. ADMIN; audited. Safe to repeat.
    async fn reconcile_payment(
        &self,
        ctx: &Context<'_>,
        input: OperatorActionInput,
    ) -> Result<PaymentPayload, ApiError> {
        let admin = guard::admin(ctx)?;
        let (id, reason) = match input.read() {
            Ok(read) => read,
            Err(error) => return Ok(PaymentPayload::refused(error)),
        };
        let services = Services::of(ctx)?;
        let outcome = services.payments.reconcile_now(&admin, id, reason, RequestId::of(ctx)).await;
        services.payment_watcher.hint();
        match outcome {
            Ok(payment) => Ok(PaymentPayload {
                payment: Some(PaymentObject(payment)),
                replayed: false,
                user_errors: Vec::new(),
            }),
            Err(error) => not_reconciled(error),
        }
    }
}

fn not_reconciled(error: ReconcileError) -> Result<PaymentPayload, ApiError> {
    let message = error.to_string();
    match error {
        ReconcileError::NotFound(_) => {
            Ok(PaymentPayload::refused(UserError::new(UserErrorCode::NotFound, message)))
        }
        ReconcileError::InvalidState(payment) => Ok(PaymentPayload {
            payment: Some(PaymentObject(*payment)),
            ..PaymentPayload::refused(UserError::new(UserErrorCode::InvalidState, message))
        }),
        ReconcileError::GatewayUnavailable => {
            Ok(PaymentPayload::refused(UserError::new(UserErrorCode::GatewayUnavailable, message)))
        }
        ReconcileError::Database(error) => Err(input::failed(error)),
        ReconcileError::TaskLost => Err(ApiError::internal(error)),
    }
}

fn refusal(error: KeyInError) -> Result<UserError, ApiError> {
    let code = match error {
        KeyInError::InvalidInput { field, message } => return Ok(UserError::invalid(&[field], message)),
        KeyInError::AlreadyPaid => UserErrorCode::AlreadyPaid,
        KeyInError::PaymentInProgress => UserErrorCode::PaymentInProgress,
        KeyInError::MeetingClosed => UserErrorCode::MeetingClosed,
        KeyInError::KeyReused => UserErrorCode::IdempotencyKeyReused,
        KeyInError::RequestInProgress => UserErrorCode::IdempotentRequestInProgress,
        KeyInError::GatewayUnavailable => UserErrorCode::GatewayUnavailable,
        KeyInError::Database(error) => return Err(input::failed(error)),
        KeyInError::TaskLost => return Err(ApiError::internal(error)),
    };
    Ok(UserError::new(code, error.to_string()))
}
