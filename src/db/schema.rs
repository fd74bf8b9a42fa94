diesel::table! {
    audit_entry (id) {
        id -> Int8,
        actor -> Text,
        role -> Text,
        action -> Text,
        target_type -> Text,
        target_id -> Text,
        reason -> Nullable<Text>,
        before -> Nullable<Json>,
        after -> Nullable<Json>,
        request_id -> Text,
        flow_id -> Nullable<Uuid>,
        occurred_at -> Timestamptz,
    }
}

diesel::table! {
    can_product (container, sku) {
        container -> Text,
        sku -> Text,
        can -> Int8,
        price -> Int8,
        title -> Text,
        is_active -> Bool,
        created_at -> Timestamptz,
        updated_at -> Timestamptz,
    }
}

diesel::table! {
    charge (id) {
        id -> Int8,
        member_id -> Int8,
        status -> Text,
        can -> Int8,
        quantity -> Int4,
        container -> Text,
        order_id -> Text,
        sku -> Nullable<Text>,
        title -> Text,
        price -> Int8,
        currency -> Text,
        payment_gateway -> Text,
        payment_status -> Text,
        method -> Nullable<Text>,
        approving_reference -> Nullable<Text>,
        approving_until -> Nullable<Timestamptz>,
        gateway_transaction_id -> Nullable<Text>,
        store_purchase_id -> Nullable<Text>,
        account_token -> Nullable<Uuid>,
        next_check_at -> Nullable<Timestamptz>,
        consume_due_at -> Nullable<Timestamptz>,
        consumed_at -> Nullable<Timestamptz>,
        flow_id -> Uuid,
        completed_at -> Nullable<Timestamptz>,
        created_at -> Timestamptz,
        updated_at -> Timestamptz,
    }
}

diesel::table! {
    charge_event (id) {
        id -> Int8,
        title -> Text,
        start_at -> Timestamptz,
        end_at -> Timestamptz,
        add_percent -> Int4,
        available_count -> Int4,
        is_active -> Bool,
        created_at -> Timestamptz,
        updated_at -> Timestamptz,
    }
}

diesel::table! {
    charge_event_job (id) {
        id -> Int8,
        source_charge_id -> Int8,
        result_charge_id -> Nullable<Int8>,
        member_id -> Int8,
        charge_event_id -> Nullable<Int8>,
        job_type -> Text,
        idempotency_key -> Text,
        additional_can -> Int8,
        payment_gateway -> Text,
        container -> Text,
        method_snapshot -> Text,
        status -> Text,
        retry_count -> Int4,
        next_retry_at -> Nullable<Timestamptz>,
        claim_token -> Nullable<Uuid>,
        processing_started_at -> Nullable<Timestamptz>,
        processed_at -> Nullable<Timestamptz>,
        last_error -> Nullable<Text>,
        flow_id -> Uuid,
        created_at -> Timestamptz,
        updated_at -> Timestamptz,
    }
}

diesel::table! {
    charge_reference (id) {
        id -> Int8,
        charge_id -> Int8,
        reference -> Text,
        digest -> Bytea,
        outcome -> Nullable<Text>,
        next_check_at -> Nullable<Timestamptz>,
        reversed_at -> Nullable<Timestamptz>,
        presented_at -> Timestamptz,
        created_at -> Timestamptz,
        updated_at -> Timestamptz,
    }
}

diesel::table! {
    daily_run (name, day) {
        name -> Text,
        day -> Date,
        instance -> Text,
        started_at -> Timestamptz,
        beat_at -> Timestamptz,
        finished_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    failure (id) {
        id -> Int8,
        position -> Nullable<Int8>,
        kind -> Text,
        severity -> Text,
        subject_type -> Text,
        subject_id -> Text,
        event_type -> Nullable<Text>,
        code -> Text,
        message -> Text,
        detail -> Nullable<Json>,
        fingerprint -> Text,
        attempt -> Int4,
        flow_id -> Nullable<Uuid>,
        occurred_at -> Timestamptz,
    }
}

diesel::table! {
    failure_feed (id) {
        id -> Int2,
        last -> Int8,
    }
}

diesel::table! {
    failure_group (fingerprint) {
        fingerprint -> Text,
        kind -> Text,
        event_type -> Nullable<Text>,
        code -> Text,
        title -> Text,
        count -> Int8,
        first_seen_at -> Timestamptz,
        last_seen_at -> Timestamptz,
        sample -> Int8,
    }
}

diesel::table! {
    idempotency_key (caller, operation, key) {
        caller -> Text,
        operation -> Text,
        key -> Text,
        input_hash -> Bytea,
        subject_type -> Text,
        subject_id -> Int8,
        lease_until -> Timestamptz,
        finished_at -> Nullable<Timestamptz>,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    inbound_dead_letter (id) {
        id -> Int8,
        queue -> Text,
        body -> Bytea,
        headers -> Json,
        event_id -> Nullable<Text>,
        error_class -> Text,
        error_code -> Text,
        error -> Text,
        status -> Text,
        replaying_until -> Nullable<Timestamptz>,
        flow_id -> Nullable<Uuid>,
        received_at -> Timestamptz,
        updated_at -> Timestamptz,
        replay_token -> Nullable<Uuid>,
    }
}

diesel::table! {
    inbox (event_id, consumer) {
        event_id -> Uuid,
        consumer -> Text,
        subject_type -> Nullable<Text>,
        subject_id -> Nullable<Int8>,
        payment_ids -> Nullable<Array<Nullable<Int8>>>,
        tries -> Int4,
        state -> Text,
        created_at -> Timestamptz,
        updated_at -> Timestamptz,
    }
}

diesel::table! {
    ledger_entry (id) {
        id -> Int8,
        member_id -> Int8,
        container -> Text,
        charge_id -> Int8,
        kind -> Text,
        can -> Int8,
        balance_after -> Int8,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    meeting_closed (meeting_id) {
        meeting_id -> Int8,
        closed_at -> Timestamptz,
        event_id -> Uuid,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    member (id) {
        id -> Int8,
        nickname -> Nullable<Text>,
        created_at -> Timestamptz,
        updated_at -> Timestamptz,
    }
}

diesel::table! {
    participant_cancel (meeting_id, user_id) {
        meeting_id -> Int8,
        user_id -> Int8,
        canceled_at -> Timestamptz,
        event_id -> Uuid,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    payment (id) {
        id -> Int8,
        order_id -> Text,
        user_id -> Int8,
        meeting_id -> Int8,
        order_name -> Text,
        amount -> Int8,
        provider -> Text,
        method -> Nullable<Text>,
        status -> Text,
        payment_key -> Nullable<Text>,
        idempotency_key -> Text,
        flow_id -> Uuid,
        failure_code -> Nullable<Text>,
        failure_message -> Nullable<Text>,
        requested_at -> Timestamptz,
        completed_at -> Nullable<Timestamptz>,
        created_at -> Timestamptz,
        updated_at -> Timestamptz,
        refund_wanted -> Nullable<Json>,
        next_check_at -> Nullable<Timestamptz>,
        check_count -> Int4,
    }
}

diesel::table! {
    payment_outbox (id) {
        id -> Int8,
        event_id -> Uuid,
        correlation_id -> Text,
        flow_id -> Uuid,
        event_type -> Text,
        aggregate_type -> Text,
        aggregate_id -> Text,
        exchange -> Text,
        routing_key -> Text,
        payload -> Json,
        traceparent -> Nullable<Text>,
        status -> Text,
        retry_count -> Int4,
        attempt_count -> Int4,
        suspect -> Bool,
        lone_connection_losses -> Int4,
        next_retry_at -> Nullable<Timestamptz>,
        last_error -> Nullable<Text>,
        last_error_code -> Nullable<Text>,
        claim_token -> Nullable<Uuid>,
        claim_trigger -> Nullable<Text>,
        claimed_by -> Nullable<Text>,
        processing_started_at -> Nullable<Timestamptz>,
        published_at -> Nullable<Timestamptz>,
        dead_lettered_at -> Nullable<Timestamptz>,
        created_at -> Timestamptz,
        updated_at -> Timestamptz,
    }
}

diesel::table! {
    provider_call (id) {
        id -> Int8,
        provider -> Text,
        operation -> Text,
        subject_type -> Text,
        subject_id -> Int8,
        flow_id -> Uuid,
        idempotency_key -> Nullable<Text>,
        outcome -> Text,
        code -> Nullable<Text>,
        duration_ms -> Int4,
        at -> Timestamptz,
    }
}

diesel::table! {
    refund (id) {
        id -> Int8,
        payment_id -> Int8,
        payment_snapshot -> Json,
        order_id -> Text,
        payment_key -> Text,
        user_id -> Int8,
        meeting_id -> Int8,
        amount -> Int8,
        reason -> Text,
        requested_by -> Text,
        source -> Text,
        source_event_id -> Nullable<Uuid>,
        status -> Text,
        idempotency_key -> Text,
        key_no -> Int4,
        provider_transaction_key -> Nullable<Text>,
        flow_id -> Uuid,
        failure_code -> Nullable<Text>,
        failure_message -> Nullable<Text>,
        attempt_count -> Int4,
        next_check_at -> Nullable<Timestamptz>,
        requested_at -> Timestamptz,
        created_at -> Timestamptz,
        completed_at -> Nullable<Timestamptz>,
        updated_at -> Timestamptz,
    }
}

diesel::table! {
    wallet (member_id, container) {
        member_id -> Int8,
        container -> Text,
        charge_can -> Int8,
        bonus_can -> Int8,
        created_at -> Timestamptz,
        updated_at -> Timestamptz,
    }
}

diesel::allow_tables_to_appear_in_same_query!(
    audit_entry,
    can_product,
    charge,
    charge_event,
    charge_event_job,
    charge_reference,
    daily_run,
    failure,
    failure_feed,
    failure_group,
    idempotency_key,
    inbound_dead_letter,
    inbox,
    ledger_entry,
    meeting_closed,
    member,
    participant_cancel,
    payment,
    payment_outbox,
    provider_call,
    refund,
    wallet,
);
