use diesel_async::AsyncPgConnection;
use thiserror::Error;
use uuid::Uuid;

use super::{
    Charge, Charges, find, member,
    model::container_of,
    product,
    store::{self, NewCharge},
};
use crate::{
    auth::ServicePrincipal,
    db::DbError,
    failures::SubjectType,
    gateways::{Checkout, PaymentGateway},
    idempotency::{self, CallerKey, InputHash, KeyState, MAX_KEY_CHARS},
};

const OPERATION: &str = "requestCharge";

/// What a charge is asked for with. The client never names the amount.
#[derive(Debug, Clone)]
pub struct RequestChargeInput {
    /// The caller's key: the same again has one effect.
    pub idempotency_key: String,
    /// Who buys.
    pub member_id: i64,
    /// What.
    pub sku: String,
    /// Where.
    pub payment_gateway: PaymentGateway,
}

/// The charge that answers a request.
#[derive(Debug, Clone)]
pub struct RequestedCharge {
    /// The charge.
    pub charge: Charge,
    /// What the client needs to pay; none once it is paid.
    pub checkout: Option<Checkout>,
    /// Whether an earlier request with the same key made it.
    pub replayed: bool,
}

/// Why there is no charge.
#[derive(Debug, Error)]
pub enum RequestChargeError {
    /// A field cannot be worked with.
    #[error("{message}")]
    InvalidInput {
        /// The field, as the API names it.
        field: &'static str,
        /// What it must be.
        message: String,
    },
    /// There is no such member.
    #[error("there is no member {0}")]
    UnknownMember(i64),
    /// The price list has no such product there, or it is not sold now.
    #[error("the price list of {container} sells no product {sku}")]
    UnknownProduct {
        /// Where it was looked for.
        container: &'static str,
        /// The product's id.
        sku: String,
    },
    /// The key was used with another input.
    #[error("this idempotencyKey was used with another input")]
    KeyReused,
    /// The first request with this key is still at work.
    #[error("the first request with this idempotencyKey is still running; ask again")]
    RequestInProgress,
    /// The gateway is not configured.
    #[error("the payment gateway is not configured")]
    GatewayUnavailable,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DbError),
}

impl From<diesel::result::Error> for RequestChargeError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Database(error.into())
    }
}

impl RequestChargeInput {
    fn check(&self) -> Result<(), RequestChargeError> {
        let invalid = |field, message: &str| {
            Err(RequestChargeError::InvalidInput { field, message: message.to_owned() })
        };
        if !(1..=MAX_KEY_CHARS).contains(&self.idempotency_key.chars().count()) {
            return invalid("idempotencyKey", "the key must have 1 to 255 characters");
        }
        if !(1..=100).contains(&self.sku.chars().count()) {
            return invalid("sku", "the sku must have 1 to 100 characters");
        }
        // PostgreSQL stores no NUL.
        for (field, text) in [("idempotencyKey", &self.idempotency_key), ("sku", &self.sku)] {
            if text.contains('\0') {
                return invalid(field, "the character NUL is not allowed");
            }
        }
        Ok(())
    }

    fn hash(&self) -> InputHash {
        InputHash::of(&[&self.member_id.to_string(), &self.sku, self.payment_gateway.as_str()])
    }
}

impl Charges {
    /// Asks for a charge: the price list's can and price, and what the client needs to pay it. One transaction with the
    /// key, so that there is nothing to resume.
    pub async fn request(
        &self,
        service: &ServicePrincipal,
        input: RequestChargeInput,
    ) -> Result<RequestedCharge, RequestChargeError> {
        input.check()?;
        if !self.gateways.is_on(input.payment_gateway) {
            return Err(RequestChargeError::GatewayUnavailable);
        }
        let caller = service.principal().subject().to_owned();
        let caller_key = CallerKey { caller, operation: OPERATION, key: input.idempotency_key.clone() };
        let subject = SubjectType::Charge.as_str();
        let mut tx = self.db.begin().await?;
        let state = idempotency::take(
            tx.conn(),
            &caller_key,
            input.hash(),
            subject,
            "charge_id_seq",
            std::time::Duration::ZERO,
        )
        .await?;
        let (charge, replayed) = match state {
            KeyState::Fresh { subject_id } => {
                let charge = match self.insert(tx.conn(), subject_id, &input).await {
                    Ok(charge) => charge,
                    // A refusal leaves no key behind.
                    Err(refusal) => {
                        tx.rollback().await?;
                        return Err(refusal);
                    }
                };
                idempotency::finish(tx.conn(), subject, charge.id).await?;
                (charge, false)
            }
            KeyState::Finished { subject_id } | KeyState::Resumed { subject_id } => {
                let known = find(tx.conn(), subject_id).await?;
                (known.ok_or(diesel::result::Error::NotFound)?, true)
            }
            KeyState::Reused => {
                tx.rollback().await?;
                return Err(RequestChargeError::KeyReused);
            }
            KeyState::Running => {
                tx.rollback().await?;
                return Err(RequestChargeError::RequestInProgress);
            }
        };
        tx.commit().await?;
        let checkout = self.checkout(&charge);
        Ok(RequestedCharge { charge, checkout, replayed })
    }

    async fn insert(
        &self,
        conn: &mut AsyncPgConnection,
        id: i64,
        input: &RequestChargeInput,
    ) -> Result<Charge, RequestChargeError> {
        let gateway = input.payment_gateway;
        let container = container_of(gateway);
        if member::find_member(conn, input.member_id).await?.is_none() {
            return Err(RequestChargeError::UnknownMember(input.member_id));
        }
        let Some(product) = product::on_sale(conn, container, &input.sku).await? else {
            return Err(RequestChargeError::UnknownProduct {
                container: container.as_str(),
                sku: input.sku.clone(),
            });
        };
        let new = NewCharge {
            id,
            member_id: input.member_id,
            can: product.can,
            container: container.as_str(),
            order_id: store::fresh_order_id(),
            sku: product.sku,
            title: product.title,
            price: product.price,
            payment_gateway: gateway.as_str(),
            account_token: Uuid::new_v4(),
            flow_id: Uuid::now_v7(),
        };
        let by_order_id =
            self.gateways.knows_order_ids(gateway).then_some(self.config.charge_reconcile_after);
        Ok(store::insert(conn, new, by_order_id).await?)
    }

    fn checkout(&self, charge: &Charge) -> Option<Checkout> {
        if charge.is_complete() {
            return None;
        }
        self.gateways.checkout(charge.gateway()?, &charge.order()?)
    }
}
