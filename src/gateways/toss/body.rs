//! The one place that writes a card down: into the body of a key-in request.

use bytes::Bytes;
use serde::Serialize;
use zeroize::Zeroizing;

use super::KeyIn;

/// Room for the longest body, so that the buffer never grows: growing would leave unwiped copies behind.
const BODY_CAPACITY: usize = 4096;

/// Not `Debug`: it holds the card.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct KeyInBody<'a> {
    amount: i64,
    order_id: &'a str,
    order_name: &'a str,
    card_number: &'a str,
    card_expiration_year: &'a str,
    card_expiration_month: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    card_password: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    customer_identity_number: Option<&'a str>,
}

/// The request's JSON, in memory that is wiped as soon as nobody needs it any more.
pub(super) fn key_in(request: &KeyIn<'_>) -> Result<Bytes, serde_json::Error> {
    let card = request.card.expose();
    let body = KeyInBody {
        amount: request.amount.get(),
        order_id: request.order_id,
        order_name: request.order_name,
        card_number: card.number,
        card_expiration_year: card.expiration_year,
        card_expiration_month: card.expiration_month,
        card_password: card.password,
        customer_identity_number: card.identity_number,
    };
    let mut buffer = Zeroizing::new(Vec::with_capacity(BODY_CAPACITY));
    serde_json::to_writer(&mut *buffer, &body)?;
    Ok(Bytes::from_owner(buffer))
}
