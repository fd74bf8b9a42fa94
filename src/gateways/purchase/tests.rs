use super::*;

const TOKEN: Uuid = Uuid::from_u128(0x7f0c_2b1e_1111_4222_8333_9a0b_1c2d_3e4f);

fn order() -> PurchaseOrder<'static> {
    PurchaseOrder {
        order_id: "CHG-1",
        title: "coin 100",
        amount: Won::new(11_000).unwrap(),
        currency: "KRW",
        sku: "coin_100",
        account_token: TOKEN,
        requested_at: Instant::UNIX_EPOCH,
    }
}

fn price(amount: &str, currency: Option<&str>) -> Option<Price> {
    Some(Price { amount: amount.to_owned(), currency: currency.map(str::to_owned) })
}

/// All that a gateway could say, and all of it right.
fn purchase() -> Purchase {
    Purchase {
        transaction_id: "T-1".to_owned(),
        order_id: Some("CHG-1".to_owned()),
        price: price("11000", Some("KRW")),
        sku: Some("coin_100".to_owned()),
        quantity: 1,
        store_id: None,
        account: Some(TOKEN.to_string().to_uppercase()),
        consumed: false,
        method: None,
    }
}

#[test]
fn a_purchase_pays_for_its_order_alone() {
    assert_eq!(purchase().check(&order()), Ok(()));
    let cases = [
        (Purchase { order_id: Some("CHG-2".into()), ..purchase() }, Mismatch::Order),
        (Purchase { account: Some("u_8f3a".into()), ..purchase() }, Mismatch::Owner),
        (Purchase { account: Some(Uuid::nil().to_string()), ..purchase() }, Mismatch::Owner),
        (Purchase { price: price("11000", Some("USD")), ..purchase() }, Mismatch::Currency),
        (Purchase { price: price("10999", Some("KRW")), ..purchase() }, Mismatch::Amount),
        (Purchase { price: price("11000.50", None), ..purchase() }, Mismatch::Amount),
        (Purchase { sku: Some("coin_1000".into()), ..purchase() }, Mismatch::Product),
        (Purchase { quantity: 1001, ..purchase() }, Mismatch::Product),
        (Purchase { quantity: -1, ..purchase() }, Mismatch::Product),
        (Purchase { quantity: 0, ..purchase() }, Mismatch::Product),
        (Purchase { consumed: true, ..purchase() }, Mismatch::Consumed),
    ];
    for (purchase, mismatch) in cases {
        assert_eq!(purchase.check(&order()), Err(mismatch), "{purchase:?}");
    }
}

#[test]
fn what_a_gateway_does_not_know_is_not_held_against_a_purchase() {
    let silent = Purchase { order_id: None, price: None, sku: None, account: None, ..purchase() };
    assert_eq!(silent.check(&order()), Ok(()));
    assert_eq!(Purchase { price: price("11000.00", None), ..purchase() }.check(&order()), Ok(()));
    assert_eq!(
        Purchase { quantity: 2, ..purchase() }.check(&order()),
        Ok(()),
        "several packs are all credited"
    );
}

#[test]
fn only_whole_won_that_could_be_asked_for_are_an_amount() {
    for (text, won) in [("1", 1), ("011000", 11_000), ("3000000000.0", 3_000_000_000)] {
        assert_eq!(price(text, None).unwrap().won().unwrap().get(), won, "{text}");
    }
    let none =
        ["", "0", "-1", "+1", "1e4", "11,000", " 1", "1.", ".0", "1.01", "NaN", "99999999999999999999"];
    for text in none {
        assert_eq!(price(text, None).unwrap().won(), None, "{text}");
    }
}

#[test]
fn a_price_that_is_far_too_long_is_no_price() {
    let long = format!("11000.{}1", "0".repeat(100));
    assert_eq!(Price::told(&long, Some(&long)), Price { amount: "?".into(), currency: Some("?".into()) });
    assert_eq!(Price::told("11\0", None).won(), None);
}

#[test]
fn a_method_can_be_stored() {
    let price = Price::told("1", None);
    let method = |text: &str| Purchase::of_order("T".into(), "O".into(), price.clone(), Some(text)).method;
    assert_eq!(method("").as_deref(), None);
    assert_eq!(method("카\0드").as_deref(), Some("카\u{FFFD}드"));
    assert_eq!(method(&"x".repeat(1000)).unwrap().len(), 100);
}

#[test]
fn of_a_purchase_token_only_the_end_is_shown() {
    assert_eq!(PaymentGateway::GoogleIap.shown("abcdefghij.AO-J1OxK9"), "…J1OxK9");
    assert_eq!(PaymentGateway::GoogleIap.shown("secret"), "…ecret");
    assert_eq!(PaymentGateway::Hecto.shown("SIM_PGCA_0001"), "SIM_PGCA_0001");
}
