//! Charges: inputs, payload, mutations.

use async_graphql::{Context, ID, InputObject, Object, SimpleObject};

use super::{ChargeObject, PaymentGatewayEnum, payment_gateway};
use crate::{
    charges::{
        ChargeAnswer, CompleteError, Presented, RefusedCode, RequestChargeError, RequestChargeInput,
        RequestedCharge,
    },
    gateways::{Checkout, PaymentGateway},
    graphql::{
        error::ApiError,
        guard,
        input::{self, UserError, UserErrorCode},
        schema::Services,
    },
    types::parse_id,
};

/// A charge to be. The price list says what it costs.
#[derive(Debug, InputObject)]
#[graphql(name = "RequestChargeInput")]
pub struct RequestChargeArgs {
    /// 1 to 255 characters; the same again within 15 days has one effect and the same answer.
    pub idempotency_key: String,
    /// Who buys.
    pub member_id: ID,
    /// What: a product of the gateway's container.
    pub sku: String,
    /// Where it will be paid.
    pub payment_gateway: PaymentGatewayEnum,
}

/// A purchase at Bootpay, Payverse or Hecto.
#[derive(Debug, InputObject)]
pub struct VerifyChargeInput {
    /// Our order id.
    pub order_id: String,
    /// Bootpay's receipt id, Payverse's tid, Hecto's trdNo.
    pub transaction_id: String,
}

/// A purchase in Apple's App Store.
#[derive(Debug, InputObject)]
pub struct AppleVerifyInput {
    /// Our order id.
    pub order_id: String,
    /// The signed transaction (JWS) as StoreKit gave it to the app.
    pub signed_transaction: String,
}

/// A purchase in Google Play.
#[derive(Debug, InputObject)]
pub struct GoogleIapInput {
    /// Our order id.
    pub order_id: String,
    /// The product that was bought.
    pub sku: String,
    /// The purchase token as Play Billing gave it to the app.
    pub purchase_token: String,
}

/// A name and its value.
#[derive(Debug, SimpleObject)]
pub struct NameValue {
    /// The field's name.
    pub name: String,
    /// Its value, to be passed on unchanged.
    pub value: String,
}

/// What the client needs to pay.
pub struct CheckoutObject {
    gateway: String,
    checkout: Checkout,
}

/// What the client needs to pay: where to, and the (signed) fields.
#[Object(name = "Checkout")]
impl CheckoutObject {
    /// The gateway.
    async fn gateway(&self) -> Result<PaymentGatewayEnum, ApiError> {
        payment_gateway(&self.gateway)
    }

    /// The window's address, where there is one.
    async fn endpoint(&self) -> Option<&str> {
        self.checkout.endpoint.as_deref()
    }

    /// What the window or the store is opened with.
    async fn fields(&self) -> Vec<NameValue> {
        let field = |(name, value): &(&'static str, String)| NameValue {
            name: (*name).to_owned(),
            value: value.clone(),
        };
        self.checkout.fields.iter().map(field).collect()
    }
}

/// What became of a charge's mutation.
#[derive(SimpleObject)]
pub struct ChargePayload {
    /// The charge: COMPLETE, or as it is with the reason why.
    pub charge: Option<ChargeObject>,
    /// With requestCharge, while it is not paid.
    pub checkout: Option<CheckoutObject>,
    /// Whether an earlier request had this effect.
    pub replayed: bool,
    /// Why it was refused.
    pub user_errors: Vec<UserError>,
}

impl ChargePayload {
    fn refused(error: UserError) -> Self {
        Self { charge: None, checkout: None, replayed: false, user_errors: vec![error] }
    }

    fn requested(requested: RequestedCharge) -> Self {
        let RequestedCharge { charge, checkout, replayed } = requested;
        let gateway = charge.payment_gateway.clone();
        Self {
            checkout: checkout.map(|checkout| CheckoutObject { gateway, checkout }),
            charge: Some(ChargeObject(charge)),
            replayed,
            user_errors: Vec::new(),
        }
    }

    fn answered(answer: ChargeAnswer) -> Self {
        let ChargeAnswer { charge, replayed, refused } = answer;
        let user_errors =
            refused.into_iter().map(|refused| UserError::new(code(refused.code), refused.message)).collect();
        Self { charge: Some(ChargeObject(charge)), checkout: None, replayed, user_errors }
    }
}

/// Changes of charges.
#[derive(Default)]
pub struct ChargeMutation;

#[Object]
impl ChargeMutation {
    /// Asks for a charge by the price list, and answers with what the client needs to pay it. SERVICE, ADMIN. Idempotent by
    /// `idempotencyKey` per caller for 15 days.
    async fn request_charge(
        &self,
        ctx: &Context<'_>,
        input: RequestChargeArgs,
    ) -> Result<ChargePayload, ApiError> {
        let service = guard::service(ctx)?;
        let member_id = match parse_id(&input.member_id) {
            Ok(id) => id,
            Err(error) => {
                let error = UserError::invalid(&["memberId"], format!("memberId {error}"));
                return Ok(ChargePayload::refused(error));
            }
        };
        let input = RequestChargeInput {
            idempotency_key: input.idempotency_key,
            member_id,
            sku: input.sku,
            payment_gateway: input.payment_gateway.into(),
        };
        match Services::of(ctx)?.charges.request(&service, input).await {
            Ok(requested) => Ok(ChargePayload::requested(requested)),
            Err(error) => not_requested(error),
        }
    }

    /// Completes a charge that was paid at Bootpay: the receipt is read there, and must be paid and agree with the charge.
    /// SERVICE, ADMIN. Idempotent by order and receipt: the same again answers the same, without a second effect.
    async fn verify(&self, ctx: &Context<'_>, input: VerifyChargeInput) -> Result<ChargePayload, ApiError> {
        complete(ctx, PaymentGateway::Pg, input.order_id, input.transaction_id, None).await
    }

    /// Completes a charge that was paid at Payverse, where it is looked up. SERVICE, ADMIN. Idempotent by order and
    /// transaction, also with the webhook.
    async fn payverse_verify(
        &self,
        ctx: &Context<'_>,
        input: VerifyChargeInput,
    ) -> Result<ChargePayload, ApiError> {
        complete(ctx, PaymentGateway::Payverse, input.order_id, input.transaction_id, None).await
    }

    /// Completes a charge that was paid at Hecto, where it is looked up. SERVICE, ADMIN. Idempotent by order and
    /// transaction, also with the webhook.
    async fn verify_hecto(
        &self,
        ctx: &Context<'_>,
        input: VerifyChargeInput,
    ) -> Result<ChargePayload, ApiError> {
        complete(ctx, PaymentGateway::Hecto, input.order_id, input.transaction_id, None).await
    }

    /// Completes a charge that was paid in Apple's App Store, by the transaction that Apple signed. SERVICE, ADMIN.
    /// Idempotent by order and transaction.
    async fn apple_verify(
        &self,
        ctx: &Context<'_>,
        input: AppleVerifyInput,
    ) -> Result<ChargePayload, ApiError> {
        complete(ctx, PaymentGateway::AppleIap, input.order_id, input.signed_transaction, None).await
    }

    /// Completes a charge that was paid in Google Play, where the token is looked up; it is consumed afterwards. SERVICE,
    /// ADMIN. Idempotent by order and token.
    async fn process_google_iap(
        &self,
        ctx: &Context<'_>,
        input: GoogleIapInput,
    ) -> Result<ChargePayload, ApiError> {
        let GoogleIapInput { order_id, sku, purchase_token } = input;
        complete(ctx, PaymentGateway::GoogleIap, order_id, purchase_token, Some(sku)).await
    }
}

async fn complete(
    ctx: &Context<'_>,
    gateway: PaymentGateway,
    order_id: String,
    reference: String,
    sku: Option<String>,
) -> Result<ChargePayload, ApiError> {
    let service = guard::service(ctx)?;
    let services = Services::of(ctx)?;
    let presented = Presented { gateway, order_id, reference, sku };
    let answer = services.charges.complete(&service, presented).await;
    services.charge_job_watcher.hint();
    match answer {
        Ok(answer) => Ok(ChargePayload::answered(answer)),
        Err(CompleteError::InvalidInput { field, message }) => {
            Ok(ChargePayload::refused(UserError::invalid(&[field], message)))
        }
        Err(error @ CompleteError::NotFound(_)) => {
            Ok(ChargePayload::refused(UserError::new(UserErrorCode::NotFound, error.to_string())))
        }
        Err(CompleteError::Database(error)) => Err(input::failed(error)),
        Err(error @ CompleteError::TaskLost) => Err(ApiError::internal(error)),
    }
}

fn not_requested(error: RequestChargeError) -> Result<ChargePayload, ApiError> {
    let message = error.to_string();
    let code = match error {
        RequestChargeError::InvalidInput { field, message } => {
            return Ok(ChargePayload::refused(UserError::invalid(&[field], message)));
        }
        RequestChargeError::UnknownMember(_) | RequestChargeError::UnknownProduct { .. } => {
            UserErrorCode::NotFound
        }
        RequestChargeError::KeyReused => UserErrorCode::IdempotencyKeyReused,
        RequestChargeError::RequestInProgress => UserErrorCode::IdempotentRequestInProgress,
        RequestChargeError::GatewayUnavailable => UserErrorCode::GatewayUnavailable,
        RequestChargeError::Database(error) => return Err(input::failed(error)),
    };
    Ok(ChargePayload::refused(UserError::new(code, message)))
}

fn code(refused: RefusedCode) -> UserErrorCode {
    match refused {
        RefusedCode::ChargeNotPaid => UserErrorCode::ChargeNotPaid,
        RefusedCode::PurchasePending => UserErrorCode::PurchasePending,
        RefusedCode::PurchaseCanceled => UserErrorCode::PurchaseCanceled,
        RefusedCode::AmountMismatch => UserErrorCode::AmountMismatch,
        RefusedCode::CurrencyMismatch => UserErrorCode::CurrencyMismatch,
        RefusedCode::ProductMismatch => UserErrorCode::ProductMismatch,
        RefusedCode::OwnerMismatch => UserErrorCode::OwnerMismatch,
        RefusedCode::GatewayMismatch => UserErrorCode::GatewayMismatch,
        RefusedCode::SandboxRefused => UserErrorCode::SandboxRefused,
        RefusedCode::SignatureInvalid => UserErrorCode::SignatureInvalid,
        RefusedCode::TransactionAlreadyUsed => UserErrorCode::TransactionAlreadyUsed,
        RefusedCode::OrderAlreadyPaid => UserErrorCode::OrderAlreadyPaid,
        RefusedCode::PaymentInProgress => UserErrorCode::PaymentInProgress,
        RefusedCode::GatewayUnavailable => UserErrorCode::GatewayUnavailable,
        RefusedCode::GatewayMisconfigured => UserErrorCode::GatewayMisconfigured,
    }
}
