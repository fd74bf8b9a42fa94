use crate::gateways::{
    PaymentGateway, PurchaseGateways,
    testing::{Bench, class, order},
};

#[tokio::test]
async fn a_gateway_without_its_settings_is_off() {
    let off = PurchaseGateways::default();
    for gateway in PaymentGateway::ALL.iter().copied() {
        assert!(!off.is_on(gateway) && !off.knows_order_ids(gateway));
        assert!(off.checkout(gateway, &order()).is_none());
        assert!(off.ask(gateway, &order(), Some("x")).await.is_none());
        assert!(off.ask(gateway, &order(), None).await.is_none());
        assert!(off.approve(gateway, &order(), "x").await.is_none());
    }
    assert!(off.read_payverse(b"{}").is_none() && off.read_hecto(b"").is_none());
    assert!(off.consume("coin_100", "x").await.is_none());
}

#[tokio::test]
async fn without_a_reference_only_a_gateway_that_knows_our_order_ids_is_asked() {
    let bench = Bench::new().await;
    for gateway in PaymentGateway::ALL.iter().copied() {
        assert!(bench.purchases.is_on(gateway));
        let asked = bench.ask(gateway, None).await;
        if bench.purchases.knows_order_ids(gateway) {
            assert_eq!((class(&asked.outcome).0, asked.calls.len()), ("not found", 1));
        } else {
            assert_eq!(class(&asked.outcome), ("unknown", "NO_REFERENCE".to_owned()));
            assert!(asked.calls.is_empty());
        }
    }
}
