//! Changes of refunds: inputs, payload, mutations.

use async_graphql::{Context, ID, InputObject, Object, SimpleObject};

use super::RefundObject;
use crate::{
    graphql::{
        api::RequestId,
        error::ApiError,
        guard,
        input::{self, OperatorActionInput, UserError, UserErrorCode},
        schema::Services,
    },
    payments::{
        GATEWAY_MISCONFIGURED, Refund, RefundInput, RefundPaymentError, RefundStatus, RetryRefundError,
    },
    types::parse_id,
};

/// A refund. The requester is the token's subject, or for SERVICE the user it acts for.
#[derive(Debug, InputObject)]
pub struct RefundPaymentInput {
    /// 1 to 255 characters; the same again within 15 days has one effect and the same answer.
    pub idempotency_key: String,
    /// The payment, all of which goes back.
    pub payment_id: ID,
    /// Why, 1 to 200 characters; the provider gets it too.
    pub reason: String,
    /// The user that a SERVICE acts for: the payer, or the refund is UNAUTHORIZED_REFUND.
    pub on_behalf_of_user_id: Option<ID>,
}

impl RefundPaymentInput {
    fn read(self) -> Result<RefundInput, UserError> {
        let id = |field: &str, text: &ID| {
            parse_id(text).map_err(|error| UserError::invalid(&[field], format!("{field} {error}")))
        };
        Ok(RefundInput {
            payment_id: id("paymentId", &self.payment_id)?,
            on_behalf_of_user_id: self
                .on_behalf_of_user_id
                .as_ref()
                .map(|user| id("onBehalfOfUserId", user))
                .transpose()?,
            idempotency_key: self.idempotency_key,
            reason: self.reason,
        })
    }
}

/// What became of a refund's mutation.
#[derive(SimpleObject)]
pub struct RefundPayload {
    /// The refund; also when the provider refused (FAILED) or its outcome is unknown (REQUESTED).
    pub refund: Option<RefundObject>,
    /// Whether an earlier request with the same key made it.
    pub replayed: bool,
    /// Why it was refused.
    pub user_errors: Vec<UserError>,
}

impl RefundPayload {
    fn refused(refund: Option<Refund>, code: UserErrorCode, message: impl Into<String>) -> Self {
        Self {
            refund: refund.map(RefundObject),
            replayed: false,
            user_errors: vec![UserError::new(code, message)],
        }
    }

    fn invalid(error: UserError) -> Self {
        Self { refund: None, replayed: false, user_errors: vec![error] }
    }

    fn answered(refund: Refund, replayed: bool) -> Self {
        let user_errors = match refund.failure_code.as_deref() {
            Some(code) if refund.is(RefundStatus::Failed) => vec![if code == GATEWAY_MISCONFIGURED {
                UserError::new(
                    UserErrorCode::GatewayMisconfigured,
                    "the payment gateway refuses our configuration; no money moved",
                )
            } else {
                let message = refund.failure_message.clone().unwrap_or_default();
                UserError::new(UserErrorCode::RefundRefused, format!("the provider refused: {message}"))
            }],
            _ => Vec::new(),
        };
        Self { refund: Some(RefundObject(refund)), replayed, user_errors }
    }
}

/// Changes of refunds.
#[derive(Default)]
pub struct RefundMutation;

#[Object]
impl RefundMutation {
    /// Gives a COMPLETED payment back, all of it. Refused by the provider: the refund is there, FAILED, with
    /// REFUND_REFUSED. Outcome unknown: the refund is there, REQUESTED, without an error. While another refund of the
    /// payment is under way, that one is answered. SERVICE (for itself, or for the payer), ADMIN (for anyone; audited).
    /// Idempotent by `idempotencyKey` per caller for 15 days.
    async fn refund_payment(
        &self,
        ctx: &Context<'_>,
        input: RefundPaymentInput,
    ) -> Result<RefundPayload, ApiError> {
        let service = guard::service(ctx)?;
        let input = match input.read() {
            Ok(input) => input,
            Err(error) => return Ok(RefundPayload::invalid(error)),
        };
        let services = Services::of(ctx)?;
        let outcome = services.payments.refund(&service, input, RequestId::of(ctx)).await;
        services.payment_watcher.hint();
        services.refund_watcher.hint();
        match outcome {
            Ok(answer) => Ok(RefundPayload::answered(answer.refund, answer.replayed)),
            Err(error) => not_refunded(error),
        }
    }

    /// Tries a FAILED refund again. The provider's books decide first: if the money went back, it is COMPLETED; otherwise
    /// the provider is asked under a new key. Refused again: FAILED, with REFUND_REFUSED. ADMIN; audited. Of two at
    /// once one wins, the other is told INVALID_STATE.
    async fn retry_refund(
        &self,
        ctx: &Context<'_>,
        input: OperatorActionInput,
    ) -> Result<RefundPayload, ApiError> {
        let admin = guard::admin(ctx)?;
        let (id, reason) = match input.read() {
            Ok(read) => read,
            Err(error) => return Ok(RefundPayload::invalid(error)),
        };
        let services = Services::of(ctx)?;
        let outcome = services.payments.retry_refund(&admin, id, reason, RequestId::of(ctx)).await;
        services.payment_watcher.hint();
        services.refund_watcher.hint();
        match outcome {
            Ok(refund) => Ok(RefundPayload::answered(refund, false)),
            Err(error) => not_retried(error),
        }
    }
}

fn not_refunded(error: RefundPaymentError) -> Result<RefundPayload, ApiError> {
    let message = error.to_string();
    let (refund, code) = match error {
        RefundPaymentError::InvalidInput { field, message } => {
            return Ok(RefundPayload::invalid(UserError::invalid(&[field], message)));
        }
        RefundPaymentError::NotFound(_) => (None, UserErrorCode::NotFound),
        RefundPaymentError::Unauthorized => (None, UserErrorCode::UnauthorizedRefund),
        RefundPaymentError::NotAllowed { refund, .. } => {
            (refund.map(|refund| *refund), UserErrorCode::RefundNotAllowed)
        }
        RefundPaymentError::KeyReused => (None, UserErrorCode::IdempotencyKeyReused),
        RefundPaymentError::RequestInProgress => (None, UserErrorCode::IdempotentRequestInProgress),
        RefundPaymentError::GatewayUnavailable => (None, UserErrorCode::GatewayUnavailable),
        RefundPaymentError::Database(error) => return Err(input::failed(error)),
        RefundPaymentError::TaskLost => return Err(ApiError::internal(error)),
    };
    Ok(RefundPayload::refused(refund, code, message))
}

fn not_retried(error: RetryRefundError) -> Result<RefundPayload, ApiError> {
    let message = error.to_string();
    let (refund, code) = match error {
        RetryRefundError::NotFound(_) => (None, UserErrorCode::NotFound),
        RetryRefundError::InvalidState { refund, .. } => (Some(*refund), UserErrorCode::InvalidState),
        RetryRefundError::GatewayUnavailable(_) => (None, UserErrorCode::GatewayUnavailable),
        RetryRefundError::GatewayMisconfigured => (None, UserErrorCode::GatewayMisconfigured),
        RetryRefundError::Database(error) => return Err(input::failed(error)),
        RetryRefundError::TaskLost => return Err(ApiError::internal(error)),
    };
    Ok(RefundPayload::refused(refund, code, message))
}
