/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
/** A product to be put on the price list or changed. */
export type CanProductInput = {
  /** Where it is sold. */
  container: Container;
  /** Its id there: 1 to 100 letters, digits, dots, dashes, underscores. */
  sku: string;
  /** How much can it is, from 1 on. */
  can: number;
  /** Whole KRW, from 1 on. */
  price: number;
  /** What the buyer reads, 1 to 100 characters. */
  title: string;
  /** Whether it can be bought. */
  isActive: boolean;
};

/** A promotion to be made or changed. */
export type ChargeEventInput = {
  /** 1 to 100 characters. */
  title: string;
  /** From this moment on. */
  startAt: string;
  /** Before this moment. */
  endAt: string;
  /** 1 to 1,000. */
  addPercent: number;
  /** How often a member may use it; 0: without limit. */
  availableCount: number;
  /** Whether it counts at all. */
  isActive: boolean;
};

/** Which charges. */
export type ChargeFilter = {
  /** Of these kinds. */
  status?: Array<ChargeStatus> | null | undefined;
  /** Paid, or not. */
  paymentStatus?: Array<ChargePaymentStatus> | null | undefined;
  /** Through these gateways. */
  paymentGateway?: Array<PaymentGateway> | null | undefined;
  /** Of this member. */
  memberId?: string | null | undefined;
  /** With this order id. */
  orderId?: string | null | undefined;
  /** Paid by this transaction of a gateway. */
  gatewayTransactionId?: string | null | undefined;
  /** Requested within. */
  createdAt?: TimeRange | null | undefined;
};

/** Which jobs. Without `status`, everything but DONE and PROCESSING: what waits for a retry and what needs a person. */
export type ChargeJobFilter = {
  /** In these states. */
  status?: Array<ChargeJobStatus> | null | undefined;
  /** Of these types. */
  jobType?: Array<ChargeJobType> | null | undefined;
  /** For this member. */
  memberId?: string | null | undefined;
  /** Earned by this charge. */
  sourceChargeId?: string | null | undefined;
  /** Earned by this promotion. */
  chargeEventId?: string | null | undefined;
  /** Earned within. */
  createdAt?: TimeRange | null | undefined;
};

/** Where a bonus job stands. */
export type ChargeJobStatus =
  /** It is tried again when it is due. */
  | 'PENDING'
  /** Somebody grants it. */
  | 'PROCESSING'
  /** Granted. */
  | 'DONE'
  /** Tried enough; needs an operator. */
  | 'FAILED';

/** What a bonus is for. */
export type ChargeJobType =
  /** The member's first charge. */
  | 'FIRST_CHARGE'
  /** A promotion. */
  | 'ACTIVE_CHARGE_EVENT';

/** Whether a charge is paid. */
export type ChargePaymentStatus =
  /** Asked for, not known to be paid. */
  | 'REQUEST'
  /** Paid and credited. */
  | 'COMPLETE';

/** What kind of charge it is. */
export type ChargeStatus =
  /** Bought. */
  | 'CHARGE'
  /** A bonus. */
  | 'EVENT';

/** The kind of store that was paid in, and the wallet that it fills. */
export type Container =
  /** The web. */
  | 'PG'
  /** Google Play. */
  | 'AOS'
  /** Apple's App Store. */
  | 'IOS';

/** How exact a count is. */
export type CountPrecision =
  /** The number itself. */
  | 'EXACT'
  /** There are at least so many. */
  | 'AT_LEAST';

/** What kind of thing went wrong. */
export type FailureKind =
  /** A try to publish an event failed; it is tried again. */
  | 'OUTBOX_FAILED'
  /** The last try to publish an event failed. */
  | 'OUTBOX_DEAD_LETTERED'
  /** A bonus could not be granted; it is tried again. */
  | 'CHARGE_JOB_RETRY'
  /** A bonus could not be granted for good. */
  | 'CHARGE_JOB_FAILED'
  /** The provider refused a refund for good. */
  | 'REFUND_FAILED'
  /** Whether a refund was made is unknown. */
  | 'REFUND_UNKNOWN'
  /** A payment was declined. */
  | 'PAYMENT_FAILED'
  /** Whether a payment was made is unknown. */
  | 'PAYMENT_UNKNOWN'
  /** An approval came too late and was cancelled. */
  | 'PAYMENT_VOIDED'
  /** A purchase was paid but does not match ours. */
  | 'CHARGE_MISMATCH'
  /** Somebody paid twice for one charge. */
  | 'DUPLICATE_PURCHASE'
  /** A gateway took a purchase back. */
  | 'PURCHASE_REVERSED'
  /** A gateway refuses our key or contract. */
  | 'GATEWAY_MISCONFIGURED'
  /** A message could not be consumed. */
  | 'INBOUND_DEAD_LETTERED'
  /** A process died while it held something, and another took it over. */
  | 'STUCK_RECOVERED'
  /** The broker cannot be reached, or takes no messages. */
  | 'BROKER_UNAVAILABLE'
  /** A background task panicked. */
  | 'WORKER_CRASHED';

/** What became of a dead letter. */
export type InboundDeadLetterStatus =
  /** It waits for an operator. */
  | 'OPEN'
  /** A replay carried it out. */
  | 'REPLAYED'
  /** An operator gave it up. */
  | 'DISCARDED';

/** Which balance an entry changed. */
export type LedgerKind =
  /** What was bought. */
  | 'CHARGE'
  /** What promotions gave. */
  | 'BONUS';

/** An operator's action on one row. */
export type OperatorActionInput = {
  /** The row. */
  id: string;
  /** Why; it goes into the audit log. */
  reason: string;
};

/** Which events. */
export type OutboxFilter = {
  /** In these states. */
  status?: Array<OutboxStatus> | null | undefined;
  /** Of these types. */
  eventType?: Array<string> | null | undefined;
  /** About this type of thing. */
  aggregateType?: string | null | undefined;
  /** About this thing. */
  aggregateId?: string | null | undefined;
  /** With this event id. */
  eventId?: string | null | undefined;
  /** With this correlation id. */
  correlationId?: string | null | undefined;
  /** Of this flow. */
  flowId?: string | null | undefined;
  /** With these last error codes. */
  errorCode?: Array<string> | null | undefined;
  /** Written within. */
  createdAt?: TimeRange | null | undefined;
};

/** Where an event is on its way. */
export type OutboxStatus =
  /** Waits to be sent. */
  | 'PENDING'
  /** A publisher has it. */
  | 'PROCESSING'
  /** The broker confirmed it. */
  | 'PUBLISHED'
  /** A try failed; it is tried again. */
  | 'FAILED'
  /** It failed too often; only an operator moves it. */
  | 'DEAD_LETTERED';

/** Which payments. Refunded payments are found under refunds: status REFUNDED here is BAD_USER_INPUT. */
export type PaymentFilter = {
  /** In these states. */
  status?: Array<PaymentStatus> | null | undefined;
  /** Of this payer. */
  userId?: string | null | undefined;
  /** For this meeting. */
  meetingId?: string | null | undefined;
  /** With this order id. */
  orderId?: string | null | undefined;
  /** With this payment key. */
  paymentKey?: string | null | undefined;
  /** Of this flow. */
  flowId?: string | null | undefined;
  /** Written within. */
  createdAt?: TimeRange | null | undefined;
};

/** Where a charge is paid. */
export type PaymentGateway =
  /** The generic payment gateway behind `verify`: Bootpay. */
  | 'PG'
  /** Payverse. */
  | 'PAYVERSE'
  /** Hecto Financial. */
  | 'HECTO'
  /** Google Play. */
  | 'GOOGLE_IAP'
  /** Apple's App Store. */
  | 'APPLE_IAP';

/** Where a payment stands. */
export type PaymentStatus =
  /** Asked for; the outcome is not known yet. */
  | 'PENDING'
  /** The money was taken. */
  | 'COMPLETED'
  /** No money was taken. */
  | 'FAILED'
  /** The money was given back; found under refunds. */
  | 'REFUNDED';

/** The class of a gateway's answer. */
export type ProviderOutcome =
  /** Carried out. */
  | 'APPROVED'
  /** Refused for good; no money moved. */
  | 'REFUSED'
  /** Carried out by an earlier call. */
  | 'ALREADY_DONE'
  /** An earlier call still runs. */
  | 'IN_PROGRESS'
  /** Nobody knows. */
  | 'UNKNOWN'
  /** Our key or contract is wrong; no money moved. */
  | 'MISCONFIGURED'
  /** The gateway knows no such payment. */
  | 'NOT_FOUND';

/** How a try ended. */
export type PublishOutcome =
  /** Confirmed. */
  | 'PUBLISHED'
  /** Confirmed, and by policy it does not matter that nobody listened. */
  | 'PUBLISHED_UNROUTABLE'
  /** The broker could not take it. */
  | 'NACKED'
  /** No queue wanted it. */
  | 'UNROUTABLE'
  /** Its exchange does not exist. */
  | 'EXCHANGE_MISSING'
  /** It cannot be sent over AMQP. */
  | 'INVALID_MESSAGE'
  /** The broker closed the channel that it was alone on. */
  | 'CHANNEL_KILLED'
  /** It was alone on three connections in a row that were lost. */
  | 'CONNECTION_KILLED'
  /** Its publisher died with it. */
  | 'STUCK';

/** What caused a try. */
export type PublishTrigger =
  /** The hand-over right after the commit. */
  | 'IMMEDIATE'
  /** The look for PENDING events. */
  | 'SCHEDULED'
  /** The look for FAILED events that are due. */
  | 'RETRY'
  /** An operator's requeue. */
  | 'MANUAL'
  /** An operator's requeue of many. */
  | 'BULK'
  /** A try on behalf of a publisher that died or lost its connection. */
  | 'RECOVERY';

/** Which refunds. */
export type RefundFilter = {
  /** In these states. */
  status?: Array<RefundStatus> | null | undefined;
  /** Asked for by these. */
  source?: Array<RefundSource> | null | undefined;
  /** Of this payer. */
  userId?: string | null | undefined;
  /** For this meeting. */
  meetingId?: string | null | undefined;
  /** Of this payment. */
  paymentId?: string | null | undefined;
  /** With these failure codes. */
  failureCode?: Array<string> | null | undefined;
  /** Of this flow. */
  flowId?: string | null | undefined;
  /** Written within. */
  createdAt?: TimeRange | null | undefined;
};

/** A refund. The requester is the token's subject, or for SERVICE the user it acts for. */
export type RefundPaymentInput = {
  /** 1 to 255 characters; the same again within 15 days has one effect and the same answer. */
  idempotencyKey: string;
  /** The payment, all of which goes back. */
  paymentId: string;
  /** Why, 1 to 200 characters; the provider gets it too. */
  reason: string;
  /** The user that a SERVICE acts for: the payer, or the refund is UNAUTHORIZED_REFUND. */
  onBehalfOfUserId?: string | null | undefined;
};

/** What asked for a refund. */
export type RefundSource =
  /** Another service, through the API. */
  | 'API'
  /** A participant who cancelled. */
  | 'PARTICIPANT_CANCEL'
  /** A meeting that was deleted. */
  | 'MEETING_DELETED'
  /** An operator. */
  | 'OPERATOR';

/** Where a refund stands. */
export type RefundStatus =
  /** Asked for; the outcome is not known yet. */
  | 'REQUESTED'
  /** The money went back. */
  | 'COMPLETED'
  /** The provider refused for good; the payment stays COMPLETED. */
  | 'FAILED';

/** How bad it is. */
export type Severity =
  /** Worth knowing. */
  | 'INFO'
  /** It is being retried. */
  | 'WARNING'
  /** A person must act. */
  | 'CRITICAL';

/** A stretch of time: from inclusive, to exclusive; either may be open. */
export type TimeRange = {
  /** From this instant on. */
  from?: string | null | undefined;
  /** Before this instant. */
  to?: string | null | undefined;
};

/** Why a business action was refused. */
export type UserErrorCode =
  /** There is no such thing. */
  | 'NOT_FOUND'
  /** A field of the input cannot be worked with; `field` names it. */
  | 'INVALID_INPUT'
  /** The row's state does not allow it. */
  | 'INVALID_STATE'
  /** Somebody has changed the row since the caller read it. */
  | 'CHANGED_MEANWHILE'
  /** The user that the service acts for is not the payer. */
  | 'UNAUTHORIZED_REFUND'
  /** Only a COMPLETED payment can be refunded. */
  | 'REFUND_NOT_ALLOWED'
  /** The provider refused; the refund is there, FAILED. */
  | 'REFUND_REFUSED'
  /** The user has paid for this meeting. */
  | 'ALREADY_PAID'
  /**
   * A payment of the user for this meeting is under way, or its outcome is unknown; another payment of the charge is
   * being approved.
   */
  | 'PAYMENT_IN_PROGRESS'
  /** The meeting was deleted. */
  | 'MEETING_CLOSED'
  /** The payment is there, FAILED. */
  | 'PAYMENT_DECLINED'
  /** The gateway knows of no payment. */
  | 'CHARGE_NOT_PAID'
  /** The purchase is not paid yet; the gateway is asked again. */
  | 'PURCHASE_PENDING'
  /** The purchase was cancelled, or given back. */
  | 'PURCHASE_CANCELED'
  /** Another amount was paid. */
  | 'AMOUNT_MISMATCH'
  /** It was paid in another currency. */
  | 'CURRENCY_MISMATCH'
  /** Another product was bought, or several of it. */
  | 'PRODUCT_MISMATCH'
  /** The purchase is for another order, or was made for somebody else. */
  | 'OWNER_MISMATCH'
  /** The charge was requested for another gateway. */
  | 'GATEWAY_MISMATCH'
  /** The purchase was made in a test environment, where no money moves. */
  | 'SANDBOX_REFUSED'
  /** What was presented is not the gateway's word. */
  | 'SIGNATURE_INVALID'
  /** The purchase has paid another charge. */
  | 'TRANSACTION_ALREADY_USED'
  /** Another purchase has paid this charge; if this one is paid too, operators are told. */
  | 'ORDER_ALREADY_PAID'
  /** The gateway is not configured, or does not answer now. */
  | 'GATEWAY_UNAVAILABLE'
  /** The gateway refuses our key or contract; no money moved. */
  | 'GATEWAY_MISCONFIGURED'
  /** The idempotency key was used with another input. */
  | 'IDEMPOTENCY_KEY_REUSED'
  /** The first request with this idempotency key is still at work: ask again. */
  | 'IDEMPOTENT_REQUEST_IN_PROGRESS';

/** Why a row is where it is. */
export type WaitReason =
  /** The next look picks it up. */
  | 'NEXT_POLL'
  /** It failed and waits for its next try. */
  | 'BACKOFF'
  /** A process has it. */
  | 'CLAIMED'
  /** The broker is down or blocked. */
  | 'BROKER_DOWN'
  /** No promotion is active, so the worker does not look. */
  | 'NO_ACTIVE_PROMOTION'
  /** Only a person moves it on. */
  | 'NEEDS_OPERATOR'
  /** The payment provider did not say how it ended; it is asked again. */
  | 'PROVIDER_UNKNOWN';

export type ChargeJobRowFragment = { id: string, status: ChargeJobStatus, jobType: ChargeJobType, memberId: string, additionalCan: number, container: Container, sourceChargeId: string, resultChargeId: string | null, chargeEventId: string | null, retryCount: number, nextRetryAt: string | null, lastError: string | null, createdAt: string, updatedAt: string };

export type ChargeJobDetailFragment = { idempotencyKey: string, paymentGateway: PaymentGateway, methodSnapshot: string, processingStartedAt: string | null, processedAt: string | null, flowId: string, id: string, status: ChargeJobStatus, jobType: ChargeJobType, memberId: string, additionalCan: number, container: Container, sourceChargeId: string, resultChargeId: string | null, chargeEventId: string | null, retryCount: number, nextRetryAt: string | null, lastError: string | null, createdAt: string, updatedAt: string, member: { id: string, nickname: string | null }, sourceCharge: { id: string, title: string, paymentStatus: ChargePaymentStatus, createdAt: string }, resultCharge: { id: string, title: string, paymentStatus: ChargePaymentStatus, createdAt: string } | null, chargeEvent: { id: string, title: string } | null, waitingFor: { reason: WaitReason, until: string | null, since: string | null, detail: string | null } | null, availableActions: Array<{ action: string, allowed: boolean, reason: string | null }>, failures: Array<{ id: string, kind: FailureKind, severity: Severity, code: string, message: string, attempt: number, subjectType: string, subjectId: string, occurredAt: string, cursor: string }> };

export type ChargeJobsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
  filter?: ChargeJobFilter | null | undefined;
}>;


export type ChargeJobsQuery = { page: { nodes: Array<{ id: string, status: ChargeJobStatus, jobType: ChargeJobType, memberId: string, additionalCan: number, container: Container, sourceChargeId: string, resultChargeId: string | null, chargeEventId: string | null, retryCount: number, nextRetryAt: string | null, lastError: string | null, createdAt: string, updatedAt: string }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

export type ChargeJobsCountQueryVariables = Exact<{
  filter?: ChargeJobFilter | null | undefined;
}>;


export type ChargeJobsCountQuery = { page: { count: { value: number, precision: CountPrecision } } };

export type ChargeJobQueryVariables = Exact<{
  id: string;
}>;


export type ChargeJobQuery = { chargeJob: { idempotencyKey: string, paymentGateway: PaymentGateway, methodSnapshot: string, processingStartedAt: string | null, processedAt: string | null, flowId: string, id: string, status: ChargeJobStatus, jobType: ChargeJobType, memberId: string, additionalCan: number, container: Container, sourceChargeId: string, resultChargeId: string | null, chargeEventId: string | null, retryCount: number, nextRetryAt: string | null, lastError: string | null, createdAt: string, updatedAt: string, member: { id: string, nickname: string | null }, sourceCharge: { id: string, title: string, paymentStatus: ChargePaymentStatus, createdAt: string }, resultCharge: { id: string, title: string, paymentStatus: ChargePaymentStatus, createdAt: string } | null, chargeEvent: { id: string, title: string } | null, waitingFor: { reason: WaitReason, until: string | null, since: string | null, detail: string | null } | null, availableActions: Array<{ action: string, allowed: boolean, reason: string | null }>, failures: Array<{ id: string, kind: FailureKind, severity: Severity, code: string, message: string, attempt: number, subjectType: string, subjectId: string, occurredAt: string, cursor: string }> } | null };

export type ChargeJobChangedSubscriptionVariables = Exact<{
  id: string;
}>;


export type ChargeJobChangedSubscription = { row: { idempotencyKey: string, paymentGateway: PaymentGateway, methodSnapshot: string, processingStartedAt: string | null, processedAt: string | null, flowId: string, id: string, status: ChargeJobStatus, jobType: ChargeJobType, memberId: string, additionalCan: number, container: Container, sourceChargeId: string, resultChargeId: string | null, chargeEventId: string | null, retryCount: number, nextRetryAt: string | null, lastError: string | null, createdAt: string, updatedAt: string, member: { id: string, nickname: string | null }, sourceCharge: { id: string, title: string, paymentStatus: ChargePaymentStatus, createdAt: string }, resultCharge: { id: string, title: string, paymentStatus: ChargePaymentStatus, createdAt: string } | null, chargeEvent: { id: string, title: string } | null, waitingFor: { reason: WaitReason, until: string | null, since: string | null, detail: string | null } | null, availableActions: Array<{ action: string, allowed: boolean, reason: string | null }>, failures: Array<{ id: string, kind: FailureKind, severity: Severity, code: string, message: string, attempt: number, subjectType: string, subjectId: string, occurredAt: string, cursor: string }> } };

export type RetryChargeJobMutationVariables = Exact<{
  input: OperatorActionInput;
}>;


export type RetryChargeJobMutation = { result: { chargeJob: { id: string, status: ChargeJobStatus } | null, userErrors: Array<{ code: UserErrorCode, message: string }> } };

export type RunChargeJobsMutationVariables = Exact<{
  force?: boolean | null | undefined;
  reason?: string | null | undefined;
}>;


export type RunChargeJobsMutation = { result: { claimed: number, done: number, failed: number, skippedNoActivePromotion: boolean, userErrors: Array<{ code: UserErrorCode, message: string }> } };

export type ChargeRowFragment = { id: string, status: ChargeStatus, paymentStatus: ChargePaymentStatus, paymentGateway: PaymentGateway, container: Container, can: number, price: number, title: string, orderId: string, createdAt: string, updatedAt: string, member: { id: string, nickname: string | null } };

export type ChargeDetailFragment = { sku: string | null, currency: string, method: string | null, gatewayTransactionId: string | null, flowId: string, completedAt: string | null, consumedAt: string | null, id: string, status: ChargeStatus, paymentStatus: ChargePaymentStatus, paymentGateway: PaymentGateway, container: Container, can: number, price: number, title: string, orderId: string, createdAt: string, updatedAt: string, jobs: Array<{ id: string, jobType: ChargeJobType, status: ChargeJobStatus, additionalCan: number, createdAt: string }>, providerCalls: Array<{ provider: string, operation: string, idempotencyKey: string | null, outcome: ProviderOutcome, code: string | null, durationMs: number, at: string }>, failures: Array<{ id: string, kind: FailureKind, severity: Severity, code: string, message: string, attempt: number, subjectType: string, subjectId: string, occurredAt: string, cursor: string }>, member: { id: string, nickname: string | null } };

export type ChargesQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
  filter?: ChargeFilter | null | undefined;
}>;


export type ChargesQuery = { page: { nodes: Array<{ id: string, status: ChargeStatus, paymentStatus: ChargePaymentStatus, paymentGateway: PaymentGateway, container: Container, can: number, price: number, title: string, orderId: string, createdAt: string, updatedAt: string, member: { id: string, nickname: string | null } }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

export type ChargesCountQueryVariables = Exact<{
  filter?: ChargeFilter | null | undefined;
}>;


export type ChargesCountQuery = { page: { count: { value: number, precision: CountPrecision } } };

export type ChargeQueryVariables = Exact<{
  id: string;
}>;


export type ChargeQuery = { charge: { sku: string | null, currency: string, method: string | null, gatewayTransactionId: string | null, flowId: string, completedAt: string | null, consumedAt: string | null, id: string, status: ChargeStatus, paymentStatus: ChargePaymentStatus, paymentGateway: PaymentGateway, container: Container, can: number, price: number, title: string, orderId: string, createdAt: string, updatedAt: string, jobs: Array<{ id: string, jobType: ChargeJobType, status: ChargeJobStatus, additionalCan: number, createdAt: string }>, providerCalls: Array<{ provider: string, operation: string, idempotencyKey: string | null, outcome: ProviderOutcome, code: string | null, durationMs: number, at: string }>, failures: Array<{ id: string, kind: FailureKind, severity: Severity, code: string, message: string, attempt: number, subjectType: string, subjectId: string, occurredAt: string, cursor: string }>, member: { id: string, nickname: string | null } } | null };

export type DeadLetterRowFragment = { id: string, queue: string, eventId: string | null, errorClass: string, errorCode: string, error: string, status: InboundDeadLetterStatus, receivedAt: string, updatedAt: string };

export type DeadLetterDetailFragment = { bodyText: string | null, bodyBase64: string, headers: unknown, flowId: string | null, id: string, queue: string, eventId: string | null, errorClass: string, errorCode: string, error: string, status: InboundDeadLetterStatus, receivedAt: string, updatedAt: string, failures: Array<{ id: string, kind: FailureKind, severity: Severity, code: string, message: string, attempt: number, subjectType: string, subjectId: string, occurredAt: string, cursor: string }>, availableActions: Array<{ action: string, allowed: boolean, reason: string | null }> };

export type DeadLettersQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
  status?: Array<InboundDeadLetterStatus> | InboundDeadLetterStatus | null | undefined;
}>;


export type DeadLettersQuery = { page: { nodes: Array<{ id: string, queue: string, eventId: string | null, errorClass: string, errorCode: string, error: string, status: InboundDeadLetterStatus, receivedAt: string, updatedAt: string }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

export type DeadLettersCountQueryVariables = Exact<{
  status?: Array<InboundDeadLetterStatus> | InboundDeadLetterStatus | null | undefined;
}>;


export type DeadLettersCountQuery = { page: { count: { value: number, precision: CountPrecision } } };

export type ReplayInboundDeadLetterMutationVariables = Exact<{
  input: OperatorActionInput;
}>;


export type ReplayInboundDeadLetterMutation = { result: { inboundDeadLetter: { id: string, status: InboundDeadLetterStatus } | null, userErrors: Array<{ code: UserErrorCode, message: string }> } };

export type DiscardInboundDeadLetterMutationVariables = Exact<{
  input: OperatorActionInput;
}>;


export type DiscardInboundDeadLetterMutation = { result: { inboundDeadLetter: { id: string, status: InboundDeadLetterStatus } | null, userErrors: Array<{ code: UserErrorCode, message: string }> } };

export type DeadLetterQueryVariables = Exact<{
  id: string;
}>;


export type DeadLetterQuery = { inboundDeadLetter: { bodyText: string | null, bodyBase64: string, headers: unknown, flowId: string | null, id: string, queue: string, eventId: string | null, errorClass: string, errorCode: string, error: string, status: InboundDeadLetterStatus, receivedAt: string, updatedAt: string, failures: Array<{ id: string, kind: FailureKind, severity: Severity, code: string, message: string, attempt: number, subjectType: string, subjectId: string, occurredAt: string, cursor: string }>, availableActions: Array<{ action: string, allowed: boolean, reason: string | null }> } | null };

export type FailureRowFragment = { id: string, kind: FailureKind, severity: Severity, code: string, message: string, attempt: number, subjectType: string, subjectId: string, occurredAt: string, cursor: string };

export type RecentFailuresQueryVariables = Exact<{ [key: string]: never; }>;


export type RecentFailuresQuery = { failures: { nodes: Array<{ id: string, kind: FailureKind, severity: Severity, code: string, message: string, attempt: number, subjectType: string, subjectId: string, occurredAt: string, cursor: string }> } };

export type FailuresLiveSubscriptionVariables = Exact<{
  after?: string | null | undefined;
}>;


export type FailuresLiveSubscription = { failures: { lagged: boolean, failure: { id: string, kind: FailureKind, severity: Severity, code: string, message: string, attempt: number, subjectType: string, subjectId: string, occurredAt: string, cursor: string } | null } };

export type MemberQueryVariables = Exact<{
  id: string;
}>;


export type MemberQuery = { member: { id: string, nickname: string | null, wallets: Array<{ container: Container, chargeCan: number, bonusCan: number }> } | null, charges: { nodes: Array<{ id: string, status: ChargeStatus, paymentStatus: ChargePaymentStatus, paymentGateway: PaymentGateway, container: Container, can: number, price: number, title: string, orderId: string, createdAt: string, updatedAt: string, member: { id: string, nickname: string | null } }> }, chargeJobs: { nodes: Array<{ id: string, status: ChargeJobStatus, jobType: ChargeJobType, memberId: string, additionalCan: number, container: Container, sourceChargeId: string, resultChargeId: string | null, chargeEventId: string | null, retryCount: number, nextRetryAt: string | null, lastError: string | null, createdAt: string, updatedAt: string }> } };

export type MemberLedgerQueryVariables = Exact<{
  id: string;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type MemberLedgerQuery = { member: { ledger: { nodes: Array<{ id: string, container: Container, kind: LedgerKind, can: number, balanceAfter: number, createdAt: string, charge: { id: string, title: string } }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null }, count: { value: number, precision: CountPrecision } } } | null };

export type RecentMembersQueryVariables = Exact<{ [key: string]: never; }>;


export type RecentMembersQuery = { charges: { nodes: Array<{ id: string, createdAt: string, member: { id: string, nickname: string | null } }> } };

export type SentEventFragment = { id: string, eventType: string, status: OutboxStatus, createdAt: string, updatedAt: string, publishedAt: string | null, waitingFor: { reason: WaitReason, until: string | null, since: string | null, detail: string | null } | null, failures: Array<{ id: string, kind: FailureKind, severity: Severity, code: string, message: string, attempt: number, subjectType: string, subjectId: string, occurredAt: string, cursor: string }> };

export type OutboxRowFragment = { id: string, eventId: string, eventType: string, aggregateType: string, aggregateId: string, routingKey: string, status: OutboxStatus, retryCount: number, attemptCount: number, nextRetryAt: string | null, lastErrorCode: string | null, createdAt: string, updatedAt: string };

export type OutboxDetailFragment = { correlationId: string, flowId: string, exchange: string, lastError: string | null, claimedBy: string | null, processingStartedAt: string | null, publishedAt: string | null, id: string, eventId: string, eventType: string, aggregateType: string, aggregateId: string, routingKey: string, status: OutboxStatus, retryCount: number, attemptCount: number, nextRetryAt: string | null, lastErrorCode: string | null, createdAt: string, updatedAt: string, attempts: Array<{ number: number, trigger: PublishTrigger, outcome: PublishOutcome, error: string | null, worker: string, startedAt: string, finishedAt: string }>, waitingFor: { reason: WaitReason, until: string | null, since: string | null, detail: string | null } | null, availableActions: Array<{ action: string, allowed: boolean, reason: string | null }>, failures: Array<{ id: string, kind: FailureKind, severity: Severity, code: string, message: string, attempt: number, subjectType: string, subjectId: string, occurredAt: string, cursor: string }> };

export type OutboxEventsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
  filter?: OutboxFilter | null | undefined;
}>;


export type OutboxEventsQuery = { page: { nodes: Array<{ id: string, eventId: string, eventType: string, aggregateType: string, aggregateId: string, routingKey: string, status: OutboxStatus, retryCount: number, attemptCount: number, nextRetryAt: string | null, lastErrorCode: string | null, createdAt: string, updatedAt: string }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

export type OutboxEventsCountQueryVariables = Exact<{
  filter?: OutboxFilter | null | undefined;
}>;


export type OutboxEventsCountQuery = { page: { count: { value: number, precision: CountPrecision } } };

export type OutboxEventQueryVariables = Exact<{
  id: string;
}>;


export type OutboxEventQuery = { outboxEvent: { correlationId: string, flowId: string, exchange: string, lastError: string | null, claimedBy: string | null, processingStartedAt: string | null, publishedAt: string | null, id: string, eventId: string, eventType: string, aggregateType: string, aggregateId: string, routingKey: string, status: OutboxStatus, retryCount: number, attemptCount: number, nextRetryAt: string | null, lastErrorCode: string | null, createdAt: string, updatedAt: string, attempts: Array<{ number: number, trigger: PublishTrigger, outcome: PublishOutcome, error: string | null, worker: string, startedAt: string, finishedAt: string }>, waitingFor: { reason: WaitReason, until: string | null, since: string | null, detail: string | null } | null, availableActions: Array<{ action: string, allowed: boolean, reason: string | null }>, failures: Array<{ id: string, kind: FailureKind, severity: Severity, code: string, message: string, attempt: number, subjectType: string, subjectId: string, occurredAt: string, cursor: string }> } | null };

export type OutboxPayloadQueryVariables = Exact<{
  id: string;
}>;


export type OutboxPayloadQuery = { outboxEvent: { payloadText: string } | null };

export type OutboxEventChangedSubscriptionVariables = Exact<{
  id: string;
}>;


export type OutboxEventChangedSubscription = { row: { correlationId: string, flowId: string, exchange: string, lastError: string | null, claimedBy: string | null, processingStartedAt: string | null, publishedAt: string | null, id: string, eventId: string, eventType: string, aggregateType: string, aggregateId: string, routingKey: string, status: OutboxStatus, retryCount: number, attemptCount: number, nextRetryAt: string | null, lastErrorCode: string | null, createdAt: string, updatedAt: string, attempts: Array<{ number: number, trigger: PublishTrigger, outcome: PublishOutcome, error: string | null, worker: string, startedAt: string, finishedAt: string }>, waitingFor: { reason: WaitReason, until: string | null, since: string | null, detail: string | null } | null, availableActions: Array<{ action: string, allowed: boolean, reason: string | null }>, failures: Array<{ id: string, kind: FailureKind, severity: Severity, code: string, message: string, attempt: number, subjectType: string, subjectId: string, occurredAt: string, cursor: string }> } };

export type RequeueOutboxEventMutationVariables = Exact<{
  input: OperatorActionInput;
}>;


export type RequeueOutboxEventMutation = { result: { outboxEvent: { id: string, status: OutboxStatus } | null, userErrors: Array<{ code: UserErrorCode, message: string }> } };

export type StatusCountedFragment = { status: string, count: { value: number, precision: CountPrecision } };

export type OverviewNumbersFragment = { strandedJobs: number, oldestPendingAgeSeconds: number | null, openDeadLetters: number, brokerConnected: boolean, asOf: string, outbox: Array<{ status: string, count: { value: number, precision: CountPrecision } }>, payments: Array<{ status: string, count: { value: number, precision: CountPrecision } }>, refunds: Array<{ status: string, count: { value: number, precision: CountPrecision } }>, chargeJobs: Array<{ status: string, count: { value: number, precision: CountPrecision } }>, publishedPerMinute: Array<{ at: string, value: number }>, failuresPerMinute: Array<{ at: string, value: number }>, publishLatencyMs: { p50: number | null, p99: number | null } };

export type OverviewChangedSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type OverviewChangedSubscription = { overview: { strandedJobs: number, oldestPendingAgeSeconds: number | null, openDeadLetters: number, brokerConnected: boolean, asOf: string, outbox: Array<{ status: string, count: { value: number, precision: CountPrecision } }>, payments: Array<{ status: string, count: { value: number, precision: CountPrecision } }>, refunds: Array<{ status: string, count: { value: number, precision: CountPrecision } }>, chargeJobs: Array<{ status: string, count: { value: number, precision: CountPrecision } }>, publishedPerMinute: Array<{ at: string, value: number }>, failuresPerMinute: Array<{ at: string, value: number }>, publishLatencyMs: { p50: number | null, p99: number | null } } };

export type OverviewQueryVariables = Exact<{ [key: string]: never; }>;


export type OverviewQuery = { overview: { strandedJobs: number, oldestPendingAgeSeconds: number | null, openDeadLetters: number, brokerConnected: boolean, asOf: string, outbox: Array<{ status: string, count: { value: number, precision: CountPrecision } }>, payments: Array<{ status: string, count: { value: number, precision: CountPrecision } }>, refunds: Array<{ status: string, count: { value: number, precision: CountPrecision } }>, chargeJobs: Array<{ status: string, count: { value: number, precision: CountPrecision } }>, publishedPerMinute: Array<{ at: string, value: number }>, failuresPerMinute: Array<{ at: string, value: number }>, publishLatencyMs: { p50: number | null, p99: number | null } } };

export type BooksQueryVariables = Exact<{ [key: string]: never; }>;


export type BooksQuery = { invariants: Array<{ name: string, description: string, holds: boolean, violations: number, sampleIds: Array<string>, checkedAt: string }> };

export type PaymentRowFragment = { id: string, orderId: string, userId: string, meetingId: string, orderName: string, amount: number, status: PaymentStatus, failureCode: string | null, createdAt: string, updatedAt: string };

export type ActionFragment = { action: string, allowed: boolean, reason: string | null };

export type WaitFragment = { reason: WaitReason, until: string | null, since: string | null, detail: string | null };

export type CallFragment = { provider: string, operation: string, idempotencyKey: string | null, outcome: ProviderOutcome, code: string | null, durationMs: number, at: string };

export type PaymentDetailFragment = { provider: string, method: string | null, paymentKey: string | null, flowId: string, failureMessage: string | null, requestedAt: string, completedAt: string | null, id: string, orderId: string, userId: string, meetingId: string, orderName: string, amount: number, status: PaymentStatus, failureCode: string | null, createdAt: string, updatedAt: string, waitingFor: { reason: WaitReason, until: string | null, since: string | null, detail: string | null } | null, availableActions: Array<{ action: string, allowed: boolean, reason: string | null }>, providerCalls: Array<{ provider: string, operation: string, idempotencyKey: string | null, outcome: ProviderOutcome, code: string | null, durationMs: number, at: string }>, refunds: Array<{ id: string, status: RefundStatus, amount: number, reason: string, createdAt: string, completedAt: string | null, waitingFor: { reason: WaitReason, until: string | null, since: string | null, detail: string | null } | null }>, outboxEvents: Array<{ id: string, eventType: string, status: OutboxStatus, createdAt: string, updatedAt: string, publishedAt: string | null, waitingFor: { reason: WaitReason, until: string | null, since: string | null, detail: string | null } | null, failures: Array<{ id: string, kind: FailureKind, severity: Severity, code: string, message: string, attempt: number, subjectType: string, subjectId: string, occurredAt: string, cursor: string }> }>, failures: Array<{ id: string, kind: FailureKind, severity: Severity, code: string, message: string, attempt: number, subjectType: string, subjectId: string, occurredAt: string, cursor: string }> };

export type PaymentsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
  filter?: PaymentFilter | null | undefined;
}>;


export type PaymentsQuery = { page: { nodes: Array<{ id: string, orderId: string, userId: string, meetingId: string, orderName: string, amount: number, status: PaymentStatus, failureCode: string | null, createdAt: string, updatedAt: string }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

export type PaymentsCountQueryVariables = Exact<{
  filter?: PaymentFilter | null | undefined;
}>;


export type PaymentsCountQuery = { page: { count: { value: number, precision: CountPrecision } } };

export type PageFragment = { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null };

export type CountedFragment = { value: number, precision: CountPrecision };

export type PaymentQueryVariables = Exact<{
  id: string;
}>;


export type PaymentQuery = { payment: { provider: string, method: string | null, paymentKey: string | null, flowId: string, failureMessage: string | null, requestedAt: string, completedAt: string | null, id: string, orderId: string, userId: string, meetingId: string, orderName: string, amount: number, status: PaymentStatus, failureCode: string | null, createdAt: string, updatedAt: string, waitingFor: { reason: WaitReason, until: string | null, since: string | null, detail: string | null } | null, availableActions: Array<{ action: string, allowed: boolean, reason: string | null }>, providerCalls: Array<{ provider: string, operation: string, idempotencyKey: string | null, outcome: ProviderOutcome, code: string | null, durationMs: number, at: string }>, refunds: Array<{ id: string, status: RefundStatus, amount: number, reason: string, createdAt: string, completedAt: string | null, waitingFor: { reason: WaitReason, until: string | null, since: string | null, detail: string | null } | null }>, outboxEvents: Array<{ id: string, eventType: string, status: OutboxStatus, createdAt: string, updatedAt: string, publishedAt: string | null, waitingFor: { reason: WaitReason, until: string | null, since: string | null, detail: string | null } | null, failures: Array<{ id: string, kind: FailureKind, severity: Severity, code: string, message: string, attempt: number, subjectType: string, subjectId: string, occurredAt: string, cursor: string }> }>, failures: Array<{ id: string, kind: FailureKind, severity: Severity, code: string, message: string, attempt: number, subjectType: string, subjectId: string, occurredAt: string, cursor: string }> } | null };

export type PaymentChangedSubscriptionVariables = Exact<{
  id: string;
}>;


export type PaymentChangedSubscription = { row: { provider: string, method: string | null, paymentKey: string | null, flowId: string, failureMessage: string | null, requestedAt: string, completedAt: string | null, id: string, orderId: string, userId: string, meetingId: string, orderName: string, amount: number, status: PaymentStatus, failureCode: string | null, createdAt: string, updatedAt: string, waitingFor: { reason: WaitReason, until: string | null, since: string | null, detail: string | null } | null, availableActions: Array<{ action: string, allowed: boolean, reason: string | null }>, providerCalls: Array<{ provider: string, operation: string, idempotencyKey: string | null, outcome: ProviderOutcome, code: string | null, durationMs: number, at: string }>, refunds: Array<{ id: string, status: RefundStatus, amount: number, reason: string, createdAt: string, completedAt: string | null, waitingFor: { reason: WaitReason, until: string | null, since: string | null, detail: string | null } | null }>, outboxEvents: Array<{ id: string, eventType: string, status: OutboxStatus, createdAt: string, updatedAt: string, publishedAt: string | null, waitingFor: { reason: WaitReason, until: string | null, since: string | null, detail: string | null } | null, failures: Array<{ id: string, kind: FailureKind, severity: Severity, code: string, message: string, attempt: number, subjectType: string, subjectId: string, occurredAt: string, cursor: string }> }>, failures: Array<{ id: string, kind: FailureKind, severity: Severity, code: string, message: string, attempt: number, subjectType: string, subjectId: string, occurredAt: string, cursor: string }> } };

export type RefundPaymentMutationVariables = Exact<{
  input: RefundPaymentInput;
}>;


export type RefundPaymentMutation = { result: { refund: { id: string, status: RefundStatus } | null, userErrors: Array<{ code: UserErrorCode, message: string }> } };

export type ReconcilePaymentMutationVariables = Exact<{
  input: OperatorActionInput;
}>;


export type ReconcilePaymentMutation = { result: { payment: { id: string, status: PaymentStatus } | null, userErrors: Array<{ code: UserErrorCode, message: string }> } };

export type ProductRowFragment = { container: Container, sku: string, can: number, price: number, title: string, isActive: boolean, updatedAt: string };

export type ProductsQueryVariables = Exact<{ [key: string]: never; }>;


export type ProductsQuery = { canProducts: Array<{ container: Container, sku: string, can: number, price: number, title: string, isActive: boolean, updatedAt: string }> };

export type SaveProductMutationVariables = Exact<{
  input: CanProductInput;
  expectedUpdatedAt?: string | null | undefined;
  mustBeNew: boolean;
  reason?: string | null | undefined;
}>;


export type SaveProductMutation = { result: { canProduct: { container: Container, sku: string, can: number, price: number, title: string, isActive: boolean, updatedAt: string } | null, userErrors: Array<{ code: UserErrorCode, message: string }> } };

export type PromotionRowFragment = { id: string, title: string, startAt: string, endAt: string, addPercent: number, availableCount: number, isActive: boolean, createdAt: string, updatedAt: string };

export type PromotionsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type PromotionsQuery = { page: { nodes: Array<{ id: string, title: string, startAt: string, endAt: string, addPercent: number, availableCount: number, isActive: boolean, createdAt: string, updatedAt: string }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

export type PromotionsCountQueryVariables = Exact<{ [key: string]: never; }>;


export type PromotionsCountQuery = { page: { count: { value: number, precision: CountPrecision } } };

export type PromotionQueryVariables = Exact<{
  id: string;
}>;


export type PromotionQuery = { chargeEvent: { id: string, title: string, startAt: string, endAt: string, addPercent: number, availableCount: number, isActive: boolean, createdAt: string, updatedAt: string } | null };

export type CreatePromotionMutationVariables = Exact<{
  input: ChargeEventInput;
  reason?: string | null | undefined;
}>;


export type CreatePromotionMutation = { result: { chargeEvent: { id: string, title: string, startAt: string, endAt: string, addPercent: number, availableCount: number, isActive: boolean, createdAt: string, updatedAt: string } | null, userErrors: Array<{ code: UserErrorCode, message: string, field: Array<string> | null }> } };

export type UpdatePromotionMutationVariables = Exact<{
  id: string;
  input: ChargeEventInput;
  expectedUpdatedAt?: string | null | undefined;
  reason?: string | null | undefined;
}>;


export type UpdatePromotionMutation = { result: { chargeEvent: { id: string, title: string, startAt: string, endAt: string, addPercent: number, availableCount: number, isActive: boolean, createdAt: string, updatedAt: string } | null, userErrors: Array<{ code: UserErrorCode, message: string, field: Array<string> | null }> } };

export type RefundRowFragment = { id: string, paymentId: string, userId: string, meetingId: string, amount: number, reason: string, requestedBy: string, source: RefundSource, status: RefundStatus, failureCode: string | null, attemptCount: number, createdAt: string, updatedAt: string };

export type RefundDetailFragment = { providerTransactionKey: string | null, flowId: string, failureMessage: string | null, completedAt: string | null, id: string, paymentId: string, userId: string, meetingId: string, amount: number, reason: string, requestedBy: string, source: RefundSource, status: RefundStatus, failureCode: string | null, attemptCount: number, createdAt: string, updatedAt: string, payment: { id: string, orderId: string, orderName: string, status: PaymentStatus, createdAt: string }, waitingFor: { reason: WaitReason, until: string | null, since: string | null, detail: string | null } | null, availableActions: Array<{ action: string, allowed: boolean, reason: string | null }>, providerCalls: Array<{ provider: string, operation: string, idempotencyKey: string | null, outcome: ProviderOutcome, code: string | null, durationMs: number, at: string }>, outboxEvents: Array<{ id: string, eventType: string, status: OutboxStatus, createdAt: string, updatedAt: string, publishedAt: string | null, waitingFor: { reason: WaitReason, until: string | null, since: string | null, detail: string | null } | null, failures: Array<{ id: string, kind: FailureKind, severity: Severity, code: string, message: string, attempt: number, subjectType: string, subjectId: string, occurredAt: string, cursor: string }> }>, failures: Array<{ id: string, kind: FailureKind, severity: Severity, code: string, message: string, attempt: number, subjectType: string, subjectId: string, occurredAt: string, cursor: string }> };

export type RefundsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
  filter?: RefundFilter | null | undefined;
}>;


export type RefundsQuery = { page: { nodes: Array<{ id: string, paymentId: string, userId: string, meetingId: string, amount: number, reason: string, requestedBy: string, source: RefundSource, status: RefundStatus, failureCode: string | null, attemptCount: number, createdAt: string, updatedAt: string }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

export type RefundsCountQueryVariables = Exact<{
  filter?: RefundFilter | null | undefined;
}>;


export type RefundsCountQuery = { page: { count: { value: number, precision: CountPrecision } } };

export type RefundQueryVariables = Exact<{
  id: string;
}>;


export type RefundQuery = { refund: { providerTransactionKey: string | null, flowId: string, failureMessage: string | null, completedAt: string | null, id: string, paymentId: string, userId: string, meetingId: string, amount: number, reason: string, requestedBy: string, source: RefundSource, status: RefundStatus, failureCode: string | null, attemptCount: number, createdAt: string, updatedAt: string, payment: { id: string, orderId: string, orderName: string, status: PaymentStatus, createdAt: string }, waitingFor: { reason: WaitReason, until: string | null, since: string | null, detail: string | null } | null, availableActions: Array<{ action: string, allowed: boolean, reason: string | null }>, providerCalls: Array<{ provider: string, operation: string, idempotencyKey: string | null, outcome: ProviderOutcome, code: string | null, durationMs: number, at: string }>, outboxEvents: Array<{ id: string, eventType: string, status: OutboxStatus, createdAt: string, updatedAt: string, publishedAt: string | null, waitingFor: { reason: WaitReason, until: string | null, since: string | null, detail: string | null } | null, failures: Array<{ id: string, kind: FailureKind, severity: Severity, code: string, message: string, attempt: number, subjectType: string, subjectId: string, occurredAt: string, cursor: string }> }>, failures: Array<{ id: string, kind: FailureKind, severity: Severity, code: string, message: string, attempt: number, subjectType: string, subjectId: string, occurredAt: string, cursor: string }> } | null };

export type RefundChangedSubscriptionVariables = Exact<{
  id: string;
}>;


export type RefundChangedSubscription = { row: { providerTransactionKey: string | null, flowId: string, failureMessage: string | null, completedAt: string | null, id: string, paymentId: string, userId: string, meetingId: string, amount: number, reason: string, requestedBy: string, source: RefundSource, status: RefundStatus, failureCode: string | null, attemptCount: number, createdAt: string, updatedAt: string, payment: { id: string, orderId: string, orderName: string, status: PaymentStatus, createdAt: string }, waitingFor: { reason: WaitReason, until: string | null, since: string | null, detail: string | null } | null, availableActions: Array<{ action: string, allowed: boolean, reason: string | null }>, providerCalls: Array<{ provider: string, operation: string, idempotencyKey: string | null, outcome: ProviderOutcome, code: string | null, durationMs: number, at: string }>, outboxEvents: Array<{ id: string, eventType: string, status: OutboxStatus, createdAt: string, updatedAt: string, publishedAt: string | null, waitingFor: { reason: WaitReason, until: string | null, since: string | null, detail: string | null } | null, failures: Array<{ id: string, kind: FailureKind, severity: Severity, code: string, message: string, attempt: number, subjectType: string, subjectId: string, occurredAt: string, cursor: string }> }>, failures: Array<{ id: string, kind: FailureKind, severity: Severity, code: string, message: string, attempt: number, subjectType: string, subjectId: string, occurredAt: string, cursor: string }> } };

export type RetryRefundMutationVariables = Exact<{
  input: OperatorActionInput;
}>;


export type RetryRefundMutation = { result: { refund: { id: string, status: RefundStatus } | null, userErrors: Array<{ code: UserErrorCode, message: string }> } };

export class TypedDocumentString<TResult, TVariables>
  extends String
  implements DocumentTypeDecoration<TResult, TVariables>
{
  __apiType?: NonNullable<DocumentTypeDecoration<TResult, TVariables>['__apiType']>;
  private value: string;
  public __meta__?: Record<string, any> | undefined;

  constructor(value: string, __meta__?: Record<string, any> | undefined) {
    super(value);
    this.value = value;
    this.__meta__ = __meta__;
  }

  override toString(): string & DocumentTypeDecoration<TResult, TVariables> {
    return this.value;
  }
}
export const ChargeJobRowFragmentDoc = new TypedDocumentString(`
    fragment ChargeJobRow on ChargeJob {
  id
  status
  jobType
  memberId
  additionalCan
  container
  sourceChargeId
  resultChargeId
  chargeEventId
  retryCount
  nextRetryAt
  lastError
  createdAt
  updatedAt
}
    `, {"fragmentName":"ChargeJobRow"}) as unknown as TypedDocumentString<ChargeJobRowFragment, unknown>;
export const WaitFragmentDoc = new TypedDocumentString(`
    fragment Wait on WaitState {
  reason
  until
  since
  detail
}
    `, {"fragmentName":"Wait"}) as unknown as TypedDocumentString<WaitFragment, unknown>;
export const ActionFragmentDoc = new TypedDocumentString(`
    fragment Action on AvailableAction {
  action
  allowed
  reason
}
    `, {"fragmentName":"Action"}) as unknown as TypedDocumentString<ActionFragment, unknown>;
export const FailureRowFragmentDoc = new TypedDocumentString(`
    fragment FailureRow on Failure {
  id
  kind
  severity
  code
  message
  attempt
  subjectType
  subjectId
  occurredAt
  cursor
}
    `, {"fragmentName":"FailureRow"}) as unknown as TypedDocumentString<FailureRowFragment, unknown>;
export const ChargeJobDetailFragmentDoc = new TypedDocumentString(`
    fragment ChargeJobDetail on ChargeJob {
  ...ChargeJobRow
  idempotencyKey
  paymentGateway
  methodSnapshot
  processingStartedAt
  processedAt
  flowId
  member {
    id
    nickname
  }
  sourceCharge {
    id
    title
    paymentStatus
    createdAt
  }
  resultCharge {
    id
    title
    paymentStatus
    createdAt
  }
  chargeEvent {
    id
    title
  }
  waitingFor {
    ...Wait
  }
  availableActions {
    ...Action
  }
  failures {
    ...FailureRow
  }
}
    fragment ChargeJobRow on ChargeJob {
  id
  status
  jobType
  memberId
  additionalCan
  container
  sourceChargeId
  resultChargeId
  chargeEventId
  retryCount
  nextRetryAt
  lastError
  createdAt
  updatedAt
}
fragment FailureRow on Failure {
  id
  kind
  severity
  code
  message
  attempt
  subjectType
  subjectId
  occurredAt
  cursor
}
fragment Action on AvailableAction {
  action
  allowed
  reason
}
fragment Wait on WaitState {
  reason
  until
  since
  detail
}`, {"fragmentName":"ChargeJobDetail"}) as unknown as TypedDocumentString<ChargeJobDetailFragment, unknown>;
export const ChargeRowFragmentDoc = new TypedDocumentString(`
    fragment ChargeRow on Charge {
  id
  status
  paymentStatus
  paymentGateway
  container
  can
  price
  title
  orderId
  member {
    id
    nickname
  }
  createdAt
  updatedAt
}
    `, {"fragmentName":"ChargeRow"}) as unknown as TypedDocumentString<ChargeRowFragment, unknown>;
export const CallFragmentDoc = new TypedDocumentString(`
    fragment Call on ProviderCall {
  provider
  operation
  idempotencyKey
  outcome
  code
  durationMs
  at
}
    `, {"fragmentName":"Call"}) as unknown as TypedDocumentString<CallFragment, unknown>;
export const ChargeDetailFragmentDoc = new TypedDocumentString(`
    fragment ChargeDetail on Charge {
  ...ChargeRow
  sku
  currency
  method
  gatewayTransactionId
  flowId
  completedAt
  consumedAt
  jobs {
    id
    jobType
    status
    additionalCan
    createdAt
  }
  providerCalls {
    ...Call
  }
  failures {
    ...FailureRow
  }
}
    fragment ChargeRow on Charge {
  id
  status
  paymentStatus
  paymentGateway
  container
  can
  price
  title
  orderId
  member {
    id
    nickname
  }
  createdAt
  updatedAt
}
fragment FailureRow on Failure {
  id
  kind
  severity
  code
  message
  attempt
  subjectType
  subjectId
  occurredAt
  cursor
}
fragment Call on ProviderCall {
  provider
  operation
  idempotencyKey
  outcome
  code
  durationMs
  at
}`, {"fragmentName":"ChargeDetail"}) as unknown as TypedDocumentString<ChargeDetailFragment, unknown>;
export const DeadLetterRowFragmentDoc = new TypedDocumentString(`
    fragment DeadLetterRow on InboundDeadLetter {
  id
  queue
  eventId
  errorClass
  errorCode
  error
  status
  receivedAt
  updatedAt
}
    `, {"fragmentName":"DeadLetterRow"}) as unknown as TypedDocumentString<DeadLetterRowFragment, unknown>;
export const DeadLetterDetailFragmentDoc = new TypedDocumentString(`
    fragment DeadLetterDetail on InboundDeadLetter {
  ...DeadLetterRow
  bodyText
  bodyBase64
  headers
  flowId
  failures {
    ...FailureRow
  }
  availableActions {
    ...Action
  }
}
    fragment DeadLetterRow on InboundDeadLetter {
  id
  queue
  eventId
  errorClass
  errorCode
  error
  status
  receivedAt
  updatedAt
}
fragment FailureRow on Failure {
  id
  kind
  severity
  code
  message
  attempt
  subjectType
  subjectId
  occurredAt
  cursor
}
fragment Action on AvailableAction {
  action
  allowed
  reason
}`, {"fragmentName":"DeadLetterDetail"}) as unknown as TypedDocumentString<DeadLetterDetailFragment, unknown>;
export const OutboxRowFragmentDoc = new TypedDocumentString(`
    fragment OutboxRow on OutboxEvent {
  id
  eventId
  eventType
  aggregateType
  aggregateId
  routingKey
  status
  retryCount
  attemptCount
  nextRetryAt
  lastErrorCode
  createdAt
  updatedAt
}
    `, {"fragmentName":"OutboxRow"}) as unknown as TypedDocumentString<OutboxRowFragment, unknown>;
export const OutboxDetailFragmentDoc = new TypedDocumentString(`
    fragment OutboxDetail on OutboxEvent {
  ...OutboxRow
  correlationId
  flowId
  exchange
  lastError
  claimedBy
  processingStartedAt
  publishedAt
  attempts {
    number
    trigger
    outcome
    error
    worker
    startedAt
    finishedAt
  }
  waitingFor {
    ...Wait
  }
  availableActions {
    ...Action
  }
  failures {
    ...FailureRow
  }
}
    fragment FailureRow on Failure {
  id
  kind
  severity
  code
  message
  attempt
  subjectType
  subjectId
  occurredAt
  cursor
}
fragment OutboxRow on OutboxEvent {
  id
  eventId
  eventType
  aggregateType
  aggregateId
  routingKey
  status
  retryCount
  attemptCount
  nextRetryAt
  lastErrorCode
  createdAt
  updatedAt
}
fragment Action on AvailableAction {
  action
  allowed
  reason
}
fragment Wait on WaitState {
  reason
  until
  since
  detail
}`, {"fragmentName":"OutboxDetail"}) as unknown as TypedDocumentString<OutboxDetailFragment, unknown>;
export const CountedFragmentDoc = new TypedDocumentString(`
    fragment Counted on Count {
  value
  precision
}
    `, {"fragmentName":"Counted"}) as unknown as TypedDocumentString<CountedFragment, unknown>;
export const StatusCountedFragmentDoc = new TypedDocumentString(`
    fragment StatusCounted on StatusCount {
  status
  count {
    ...Counted
  }
}
    fragment Counted on Count {
  value
  precision
}`, {"fragmentName":"StatusCounted"}) as unknown as TypedDocumentString<StatusCountedFragment, unknown>;
export const OverviewNumbersFragmentDoc = new TypedDocumentString(`
    fragment OverviewNumbers on Overview {
  outbox {
    ...StatusCounted
  }
  payments {
    ...StatusCounted
  }
  refunds {
    ...StatusCounted
  }
  chargeJobs {
    ...StatusCounted
  }
  strandedJobs
  oldestPendingAgeSeconds
  publishedPerMinute {
    at
    value
  }
  failuresPerMinute {
    at
    value
  }
  publishLatencyMs {
    p50
    p99
  }
  openDeadLetters
  brokerConnected
  asOf
}
    fragment StatusCounted on StatusCount {
  status
  count {
    ...Counted
  }
}
fragment Counted on Count {
  value
  precision
}`, {"fragmentName":"OverviewNumbers"}) as unknown as TypedDocumentString<OverviewNumbersFragment, unknown>;
export const PaymentRowFragmentDoc = new TypedDocumentString(`
    fragment PaymentRow on Payment {
  id
  orderId
  userId
  meetingId
  orderName
  amount
  status
  failureCode
  createdAt
  updatedAt
}
    `, {"fragmentName":"PaymentRow"}) as unknown as TypedDocumentString<PaymentRowFragment, unknown>;
export const SentEventFragmentDoc = new TypedDocumentString(`
    fragment SentEvent on OutboxEvent {
  id
  eventType
  status
  createdAt
  updatedAt
  publishedAt
  waitingFor {
    ...Wait
  }
  failures {
    ...FailureRow
  }
}
    fragment FailureRow on Failure {
  id
  kind
  severity
  code
  message
  attempt
  subjectType
  subjectId
  occurredAt
  cursor
}
fragment Wait on WaitState {
  reason
  until
  since
  detail
}`, {"fragmentName":"SentEvent"}) as unknown as TypedDocumentString<SentEventFragment, unknown>;
export const PaymentDetailFragmentDoc = new TypedDocumentString(`
    fragment PaymentDetail on Payment {
  ...PaymentRow
  provider
  method
  paymentKey
  flowId
  failureMessage
  requestedAt
  completedAt
  waitingFor {
    ...Wait
  }
  availableActions {
    ...Action
  }
  providerCalls {
    ...Call
  }
  refunds {
    id
    status
    amount
    reason
    createdAt
    completedAt
    waitingFor {
      ...Wait
    }
  }
  outboxEvents {
    ...SentEvent
  }
  failures {
    ...FailureRow
  }
}
    fragment FailureRow on Failure {
  id
  kind
  severity
  code
  message
  attempt
  subjectType
  subjectId
  occurredAt
  cursor
}
fragment SentEvent on OutboxEvent {
  id
  eventType
  status
  createdAt
  updatedAt
  publishedAt
  waitingFor {
    ...Wait
  }
  failures {
    ...FailureRow
  }
}
fragment PaymentRow on Payment {
  id
  orderId
  userId
  meetingId
  orderName
  amount
  status
  failureCode
  createdAt
  updatedAt
}
fragment Action on AvailableAction {
  action
  allowed
  reason
}
fragment Wait on WaitState {
  reason
  until
  since
  detail
}
fragment Call on ProviderCall {
  provider
  operation
  idempotencyKey
  outcome
  code
  durationMs
  at
}`, {"fragmentName":"PaymentDetail"}) as unknown as TypedDocumentString<PaymentDetailFragment, unknown>;
export const PageFragmentDoc = new TypedDocumentString(`
    fragment Page on PageInfo {
  hasNextPage
  hasPreviousPage
  startCursor
  endCursor
}
    `, {"fragmentName":"Page"}) as unknown as TypedDocumentString<PageFragment, unknown>;
export const ProductRowFragmentDoc = new TypedDocumentString(`
    fragment ProductRow on CanProduct {
  container
  sku
  can
  price
  title
  isActive
  updatedAt
}
    `, {"fragmentName":"ProductRow"}) as unknown as TypedDocumentString<ProductRowFragment, unknown>;
export const PromotionRowFragmentDoc = new TypedDocumentString(`
    fragment PromotionRow on ChargeEvent {
  id
  title
  startAt
  endAt
  addPercent
  availableCount
  isActive
  createdAt
  updatedAt
}
    `, {"fragmentName":"PromotionRow"}) as unknown as TypedDocumentString<PromotionRowFragment, unknown>;
export const RefundRowFragmentDoc = new TypedDocumentString(`
    fragment RefundRow on Refund {
  id
  paymentId
  userId
  meetingId
  amount
  reason
  requestedBy
  source
  status
  failureCode
  attemptCount
  createdAt
  updatedAt
}
    `, {"fragmentName":"RefundRow"}) as unknown as TypedDocumentString<RefundRowFragment, unknown>;
export const RefundDetailFragmentDoc = new TypedDocumentString(`
    fragment RefundDetail on Refund {
  ...RefundRow
  providerTransactionKey
  flowId
  failureMessage
  completedAt
  payment {
    id
    orderId
    orderName
    status
    createdAt
  }
  waitingFor {
    ...Wait
  }
  availableActions {
    ...Action
  }
  providerCalls {
    ...Call
  }
  outboxEvents {
    ...SentEvent
  }
  failures {
    ...FailureRow
  }
}
    fragment FailureRow on Failure {
  id
  kind
  severity
  code
  message
  attempt
  subjectType
  subjectId
  occurredAt
  cursor
}
fragment SentEvent on OutboxEvent {
  id
  eventType
  status
  createdAt
  updatedAt
  publishedAt
  waitingFor {
    ...Wait
  }
  failures {
    ...FailureRow
  }
}
fragment Action on AvailableAction {
  action
  allowed
  reason
}
fragment Wait on WaitState {
  reason
  until
  since
  detail
}
fragment Call on ProviderCall {
  provider
  operation
  idempotencyKey
  outcome
  code
  durationMs
  at
}
fragment RefundRow on Refund {
  id
  paymentId
  userId
  meetingId
  amount
  reason
  requestedBy
  source
  status
  failureCode
  attemptCount
  createdAt
  updatedAt
}`, {"fragmentName":"RefundDetail"}) as unknown as TypedDocumentString<RefundDetailFragment, unknown>;
export const ChargeJobsDocument = new TypedDocumentString(`
    query ChargeJobs($first: Int, $after: String, $last: Int, $before: String, $filter: ChargeJobFilter) {
  page: chargeJobs(
    first: $first
    after: $after
    last: $last
    before: $before
    filter: $filter
  ) {
    nodes {
      ...ChargeJobRow
    }
    pageInfo {
      ...Page
    }
  }
}
    fragment ChargeJobRow on ChargeJob {
  id
  status
  jobType
  memberId
  additionalCan
  container
  sourceChargeId
  resultChargeId
  chargeEventId
  retryCount
  nextRetryAt
  lastError
  createdAt
  updatedAt
}
fragment Page on PageInfo {
  hasNextPage
  hasPreviousPage
  startCursor
  endCursor
}`, {"hash":"sha256:50926e1f1a2d1651be24cd639199a3832baa236c4e659a8ae100524098a0f113"}) as unknown as TypedDocumentString<ChargeJobsQuery, ChargeJobsQueryVariables>;
export const ChargeJobsCountDocument = new TypedDocumentString(`
    query ChargeJobsCount($filter: ChargeJobFilter) {
  page: chargeJobs(first: 1, filter: $filter) {
    count {
      ...Counted
    }
  }
}
    fragment Counted on Count {
  value
  precision
}`, {"hash":"sha256:8571b0e79cecb7197290c893c5067572eafcc89a19ea8358021f8a32f05db750"}) as unknown as TypedDocumentString<ChargeJobsCountQuery, ChargeJobsCountQueryVariables>;
export const ChargeJobDocument = new TypedDocumentString(`
    query ChargeJob($id: ID!) {
  chargeJob(id: $id) {
    ...ChargeJobDetail
  }
}
    fragment ChargeJobRow on ChargeJob {
  id
  status
  jobType
  memberId
  additionalCan
  container
  sourceChargeId
  resultChargeId
  chargeEventId
  retryCount
  nextRetryAt
  lastError
  createdAt
  updatedAt
}
fragment ChargeJobDetail on ChargeJob {
  ...ChargeJobRow
  idempotencyKey
  paymentGateway
  methodSnapshot
  processingStartedAt
  processedAt
  flowId
  member {
    id
    nickname
  }
  sourceCharge {
    id
    title
    paymentStatus
    createdAt
  }
  resultCharge {
    id
    title
    paymentStatus
    createdAt
  }
  chargeEvent {
    id
    title
  }
  waitingFor {
    ...Wait
  }
  availableActions {
    ...Action
  }
  failures {
    ...FailureRow
  }
}
fragment FailureRow on Failure {
  id
  kind
  severity
  code
  message
  attempt
  subjectType
  subjectId
  occurredAt
  cursor
}
fragment Action on AvailableAction {
  action
  allowed
  reason
}
fragment Wait on WaitState {
  reason
  until
  since
  detail
}`, {"hash":"sha256:6d90bf5f58bbccd931ee115d33c7d1096e7d88f52173603e0929afd372587ad0"}) as unknown as TypedDocumentString<ChargeJobQuery, ChargeJobQueryVariables>;
export const ChargeJobChangedDocument = new TypedDocumentString(`
    subscription ChargeJobChanged($id: ID!) {
  row: chargeJobChanged(id: $id) {
    ...ChargeJobDetail
  }
}
    fragment ChargeJobRow on ChargeJob {
  id
  status
  jobType
  memberId
  additionalCan
  container
  sourceChargeId
  resultChargeId
  chargeEventId
  retryCount
  nextRetryAt
  lastError
  createdAt
  updatedAt
}
fragment ChargeJobDetail on ChargeJob {
  ...ChargeJobRow
  idempotencyKey
  paymentGateway
  methodSnapshot
  processingStartedAt
  processedAt
  flowId
  member {
    id
    nickname
  }
  sourceCharge {
    id
    title
    paymentStatus
    createdAt
  }
  resultCharge {
    id
    title
    paymentStatus
    createdAt
  }
  chargeEvent {
    id
    title
  }
  waitingFor {
    ...Wait
  }
  availableActions {
    ...Action
  }
  failures {
    ...FailureRow
  }
}
fragment FailureRow on Failure {
  id
  kind
  severity
  code
  message
  attempt
  subjectType
  subjectId
  occurredAt
  cursor
}
fragment Action on AvailableAction {
  action
  allowed
  reason
}
fragment Wait on WaitState {
  reason
  until
  since
  detail
}`, {"hash":"sha256:857fa143c73df3606f741171bfaf8d3aec1465420f8fa996104bc57d75ad2ead"}) as unknown as TypedDocumentString<ChargeJobChangedSubscription, ChargeJobChangedSubscriptionVariables>;
export const RetryChargeJobDocument = new TypedDocumentString(`
    mutation RetryChargeJob($input: OperatorActionInput!) {
  result: retryChargeJob(input: $input) {
    chargeJob {
      id
      status
    }
    userErrors {
      code
      message
    }
  }
}
    `, {"hash":"sha256:68365838b16a317dd488f903bc131eff830255885f590defa5aa83e0b3dd5101"}) as unknown as TypedDocumentString<RetryChargeJobMutation, RetryChargeJobMutationVariables>;
export const RunChargeJobsDocument = new TypedDocumentString(`
    mutation RunChargeJobs($force: Boolean, $reason: String) {
  result: runChargeJobs(force: $force, reason: $reason) {
    claimed
    done
    failed
    skippedNoActivePromotion
    userErrors {
      code
      message
    }
  }
}
    `, {"hash":"sha256:f736ba8bdea040c4250ecba51f4d4e25e428bc418bcc9fb0dacafabf098b9ceb"}) as unknown as TypedDocumentString<RunChargeJobsMutation, RunChargeJobsMutationVariables>;
export const ChargesDocument = new TypedDocumentString(`
    query Charges($first: Int, $after: String, $last: Int, $before: String, $filter: ChargeFilter) {
  page: charges(
    first: $first
    after: $after
    last: $last
    before: $before
    filter: $filter
  ) {
    nodes {
      ...ChargeRow
    }
    pageInfo {
      ...Page
    }
  }
}
    fragment ChargeRow on Charge {
  id
  status
  paymentStatus
  paymentGateway
  container
  can
  price
  title
  orderId
  member {
    id
    nickname
  }
  createdAt
  updatedAt
}
fragment Page on PageInfo {
  hasNextPage
  hasPreviousPage
  startCursor
  endCursor
}`, {"hash":"sha256:e152412c319e0801e618665b6783f471e316246ec4de9049285f1efdcdbcdece"}) as unknown as TypedDocumentString<ChargesQuery, ChargesQueryVariables>;
export const ChargesCountDocument = new TypedDocumentString(`
    query ChargesCount($filter: ChargeFilter) {
  page: charges(first: 1, filter: $filter) {
    count {
      ...Counted
    }
  }
}
    fragment Counted on Count {
  value
  precision
}`, {"hash":"sha256:66c758149ab5283f83da54ed54751fbbb1c70c2c4a32cb067df9a3bcaa7564ad"}) as unknown as TypedDocumentString<ChargesCountQuery, ChargesCountQueryVariables>;
export const ChargeDocument = new TypedDocumentString(`
    query Charge($id: ID!) {
  charge(id: $id) {
    ...ChargeDetail
  }
}
    fragment ChargeRow on Charge {
  id
  status
  paymentStatus
  paymentGateway
  container
  can
  price
  title
  orderId
  member {
    id
    nickname
  }
  createdAt
  updatedAt
}
fragment ChargeDetail on Charge {
  ...ChargeRow
  sku
  currency
  method
  gatewayTransactionId
  flowId
  completedAt
  consumedAt
  jobs {
    id
    jobType
    status
    additionalCan
    createdAt
  }
  providerCalls {
    ...Call
  }
  failures {
    ...FailureRow
  }
}
fragment FailureRow on Failure {
  id
  kind
  severity
  code
  message
  attempt
  subjectType
  subjectId
  occurredAt
  cursor
}
fragment Call on ProviderCall {
  provider
  operation
  idempotencyKey
  outcome
  code
  durationMs
  at
}`, {"hash":"sha256:cb9caefa2d4bbeaccea1de458888c49c7e66b103fc18c574c31f94c096658832"}) as unknown as TypedDocumentString<ChargeQuery, ChargeQueryVariables>;
export const DeadLettersDocument = new TypedDocumentString(`
    query DeadLetters($first: Int, $after: String, $last: Int, $before: String, $status: [InboundDeadLetterStatus!]) {
  page: inboundDeadLetters(
    first: $first
    after: $after
    last: $last
    before: $before
    status: $status
  ) {
    nodes {
      ...DeadLetterRow
    }
    pageInfo {
      ...Page
    }
  }
}
    fragment DeadLetterRow on InboundDeadLetter {
  id
  queue
  eventId
  errorClass
  errorCode
  error
  status
  receivedAt
  updatedAt
}
fragment Page on PageInfo {
  hasNextPage
  hasPreviousPage
  startCursor
  endCursor
}`, {"hash":"sha256:dd5ac369a511034c7e995b454c573deaa811f6af24b5dbe03615b8db624cc436"}) as unknown as TypedDocumentString<DeadLettersQuery, DeadLettersQueryVariables>;
export const DeadLettersCountDocument = new TypedDocumentString(`
    query DeadLettersCount($status: [InboundDeadLetterStatus!]) {
  page: inboundDeadLetters(first: 1, status: $status) {
    count {
      ...Counted
    }
  }
}
    fragment Counted on Count {
  value
  precision
}`, {"hash":"sha256:79d27a33c6b9fd8d26ea33279bd4b31e9c62698838e41da07f62c30cef960f28"}) as unknown as TypedDocumentString<DeadLettersCountQuery, DeadLettersCountQueryVariables>;
export const ReplayInboundDeadLetterDocument = new TypedDocumentString(`
    mutation ReplayInboundDeadLetter($input: OperatorActionInput!) {
  result: replayInboundDeadLetter(input: $input) {
    inboundDeadLetter {
      id
      status
    }
    userErrors {
      code
      message
    }
  }
}
    `, {"hash":"sha256:7a2b1d6758e756443362ecdeea64c035d182ad0cb0201a76eb667a7d871dd108"}) as unknown as TypedDocumentString<ReplayInboundDeadLetterMutation, ReplayInboundDeadLetterMutationVariables>;
export const DiscardInboundDeadLetterDocument = new TypedDocumentString(`
    mutation DiscardInboundDeadLetter($input: OperatorActionInput!) {
  result: discardInboundDeadLetter(input: $input) {
    inboundDeadLetter {
      id
      status
    }
    userErrors {
      code
      message
    }
  }
}
    `, {"hash":"sha256:51222da96ceaedfbab0694c8482ffc8b1e813ab98ff702f7c2fe117a5f913a22"}) as unknown as TypedDocumentString<DiscardInboundDeadLetterMutation, DiscardInboundDeadLetterMutationVariables>;
export const DeadLetterDocument = new TypedDocumentString(`
    query DeadLetter($id: ID!) {
  inboundDeadLetter(id: $id) {
    ...DeadLetterDetail
  }
}
    fragment DeadLetterRow on InboundDeadLetter {
  id
  queue
  eventId
  errorClass
  errorCode
  error
  status
  receivedAt
  updatedAt
}
fragment DeadLetterDetail on InboundDeadLetter {
  ...DeadLetterRow
  bodyText
  bodyBase64
  headers
  flowId
  failures {
    ...FailureRow
  }
  availableActions {
    ...Action
  }
}
fragment FailureRow on Failure {
  id
  kind
  severity
  code
  message
  attempt
  subjectType
  subjectId
  occurredAt
  cursor
}
fragment Action on AvailableAction {
  action
  allowed
  reason
}`, {"hash":"sha256:1f0617722cd6d3168f6865f1db545e0a17195e2d68304b7887dba44f3dbc621b"}) as unknown as TypedDocumentString<DeadLetterQuery, DeadLetterQueryVariables>;
export const RecentFailuresDocument = new TypedDocumentString(`
    query RecentFailures {
  failures(first: 50) {
    nodes {
      ...FailureRow
    }
  }
}
    fragment FailureRow on Failure {
  id
  kind
  severity
  code
  message
  attempt
  subjectType
  subjectId
  occurredAt
  cursor
}`, {"hash":"sha256:34afc986c619d43e92e8d28a42fb6c7007ee0429178dce05eb52a64a07db6f85"}) as unknown as TypedDocumentString<RecentFailuresQuery, RecentFailuresQueryVariables>;
export const FailuresLiveDocument = new TypedDocumentString(`
    subscription FailuresLive($after: String) {
  failures(after: $after) {
    failure {
      ...FailureRow
    }
    lagged
  }
}
    fragment FailureRow on Failure {
  id
  kind
  severity
  code
  message
  attempt
  subjectType
  subjectId
  occurredAt
  cursor
}`, {"hash":"sha256:dc36184b9a4a00a6eb07a23080e7444d943eaf00d216e530b7c7c73ae320d20a"}) as unknown as TypedDocumentString<FailuresLiveSubscription, FailuresLiveSubscriptionVariables>;
export const MemberDocument = new TypedDocumentString(`
    query Member($id: ID!) {
  member(id: $id) {
    id
    nickname
    wallets {
      container
      chargeCan
      bonusCan
    }
  }
  charges(first: 10, filter: {memberId: $id}) {
    nodes {
      ...ChargeRow
    }
  }
  chargeJobs(
    first: 10
    filter: {memberId: $id, status: [PENDING, PROCESSING, DONE, FAILED]}
  ) {
    nodes {
      ...ChargeJobRow
    }
  }
}
    fragment ChargeJobRow on ChargeJob {
  id
  status
  jobType
  memberId
  additionalCan
  container
  sourceChargeId
  resultChargeId
  chargeEventId
  retryCount
  nextRetryAt
  lastError
  createdAt
  updatedAt
}
fragment ChargeRow on Charge {
  id
  status
  paymentStatus
  paymentGateway
  container
  can
  price
  title
  orderId
  member {
    id
    nickname
  }
  createdAt
  updatedAt
}`, {"hash":"sha256:f258142c1c28b98dd72df940afcdcc0ec755ae761315da9df5ff751e770ac13e"}) as unknown as TypedDocumentString<MemberQuery, MemberQueryVariables>;
export const MemberLedgerDocument = new TypedDocumentString(`
    query MemberLedger($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
  member(id: $id) {
    ledger(first: $first, after: $after, last: $last, before: $before) {
      nodes {
        id
        container
        kind
        can
        balanceAfter
        createdAt
        charge {
          id
          title
        }
      }
      pageInfo {
        ...Page
      }
      count {
        ...Counted
      }
    }
  }
}
    fragment Page on PageInfo {
  hasNextPage
  hasPreviousPage
  startCursor
  endCursor
}
fragment Counted on Count {
  value
  precision
}`, {"hash":"sha256:8decdd089508ece2f6572e9d09e8906189049e3b0429f44e6e7a7b7aee123bcd"}) as unknown as TypedDocumentString<MemberLedgerQuery, MemberLedgerQueryVariables>;
export const RecentMembersDocument = new TypedDocumentString(`
    query RecentMembers {
  charges(first: 50) {
    nodes {
      id
      createdAt
      member {
        id
        nickname
      }
    }
  }
}
    `, {"hash":"sha256:c67e3e0db57afb27d15e6a5b28d523e378f35bd1c611cb21a3f9dd3c71030d0d"}) as unknown as TypedDocumentString<RecentMembersQuery, RecentMembersQueryVariables>;
export const OutboxEventsDocument = new TypedDocumentString(`
    query OutboxEvents($first: Int, $after: String, $last: Int, $before: String, $filter: OutboxFilter) {
  page: outboxEvents(
    first: $first
    after: $after
    last: $last
    before: $before
    filter: $filter
  ) {
    nodes {
      ...OutboxRow
    }
    pageInfo {
      ...Page
    }
  }
}
    fragment OutboxRow on OutboxEvent {
  id
  eventId
  eventType
  aggregateType
  aggregateId
  routingKey
  status
  retryCount
  attemptCount
  nextRetryAt
  lastErrorCode
  createdAt
  updatedAt
}
fragment Page on PageInfo {
  hasNextPage
  hasPreviousPage
  startCursor
  endCursor
}`, {"hash":"sha256:b52a5803ccf68462cbfe92a6a71ee7e37fe96da15ababf07bcfba62a876b4b4e"}) as unknown as TypedDocumentString<OutboxEventsQuery, OutboxEventsQueryVariables>;
export const OutboxEventsCountDocument = new TypedDocumentString(`
    query OutboxEventsCount($filter: OutboxFilter) {
  page: outboxEvents(first: 1, filter: $filter) {
    count {
      ...Counted
    }
  }
}
    fragment Counted on Count {
  value
  precision
}`, {"hash":"sha256:52d05f1645ffedd244581c58eeeaca900f2c5dcb9f193a45692953eb05e1df68"}) as unknown as TypedDocumentString<OutboxEventsCountQuery, OutboxEventsCountQueryVariables>;
export const OutboxEventDocument = new TypedDocumentString(`
    query OutboxEvent($id: ID!) {
  outboxEvent(id: $id) {
    ...OutboxDetail
  }
}
    fragment FailureRow on Failure {
  id
  kind
  severity
  code
  message
  attempt
  subjectType
  subjectId
  occurredAt
  cursor
}
fragment OutboxRow on OutboxEvent {
  id
  eventId
  eventType
  aggregateType
  aggregateId
  routingKey
  status
  retryCount
  attemptCount
  nextRetryAt
  lastErrorCode
  createdAt
  updatedAt
}
fragment OutboxDetail on OutboxEvent {
  ...OutboxRow
  correlationId
  flowId
  exchange
  lastError
  claimedBy
  processingStartedAt
  publishedAt
  attempts {
    number
    trigger
    outcome
    error
    worker
    startedAt
    finishedAt
  }
  waitingFor {
    ...Wait
  }
  availableActions {
    ...Action
  }
  failures {
    ...FailureRow
  }
}
fragment Action on AvailableAction {
  action
  allowed
  reason
}
fragment Wait on WaitState {
  reason
  until
  since
  detail
}`, {"hash":"sha256:c213e2445b0969c8baca28f91a828a5ae8fbdf4b9cce2bdc027efcb6066b24ca"}) as unknown as TypedDocumentString<OutboxEventQuery, OutboxEventQueryVariables>;
export const OutboxPayloadDocument = new TypedDocumentString(`
    query OutboxPayload($id: ID!) {
  outboxEvent(id: $id) {
    payloadText
  }
}
    `, {"hash":"sha256:67dd9f7a633f2512ddad9ab1026a50ec3147130a686588b89239d14e0f342c02"}) as unknown as TypedDocumentString<OutboxPayloadQuery, OutboxPayloadQueryVariables>;
export const OutboxEventChangedDocument = new TypedDocumentString(`
    subscription OutboxEventChanged($id: ID!) {
  row: outboxEventChanged(id: $id) {
    ...OutboxDetail
  }
}
    fragment FailureRow on Failure {
  id
  kind
  severity
  code
  message
  attempt
  subjectType
  subjectId
  occurredAt
  cursor
}
fragment OutboxRow on OutboxEvent {
  id
  eventId
  eventType
  aggregateType
  aggregateId
  routingKey
  status
  retryCount
  attemptCount
  nextRetryAt
  lastErrorCode
  createdAt
  updatedAt
}
fragment OutboxDetail on OutboxEvent {
  ...OutboxRow
  correlationId
  flowId
  exchange
  lastError
  claimedBy
  processingStartedAt
  publishedAt
  attempts {
    number
    trigger
    outcome
    error
    worker
    startedAt
    finishedAt
  }
  waitingFor {
    ...Wait
  }
  availableActions {
    ...Action
  }
  failures {
    ...FailureRow
  }
}
fragment Action on AvailableAction {
  action
  allowed
  reason
}
fragment Wait on WaitState {
  reason
  until
  since
  detail
}`, {"hash":"sha256:d8768040c63fbf9e864acfde5b600301b86b93711cc87e4e57344b2deb438fc0"}) as unknown as TypedDocumentString<OutboxEventChangedSubscription, OutboxEventChangedSubscriptionVariables>;
export const RequeueOutboxEventDocument = new TypedDocumentString(`
    mutation RequeueOutboxEvent($input: OperatorActionInput!) {
  result: requeueOutboxEvent(input: $input) {
    outboxEvent {
      id
      status
    }
    userErrors {
      code
      message
    }
  }
}
    `, {"hash":"sha256:091bfdf3a024f1c88624133b549725dfa5b92b3fab081810b2667580c3318cd0"}) as unknown as TypedDocumentString<RequeueOutboxEventMutation, RequeueOutboxEventMutationVariables>;
export const OverviewChangedDocument = new TypedDocumentString(`
    subscription OverviewChanged {
  overview: overviewChanged {
    ...OverviewNumbers
  }
}
    fragment StatusCounted on StatusCount {
  status
  count {
    ...Counted
  }
}
fragment OverviewNumbers on Overview {
  outbox {
    ...StatusCounted
  }
  payments {
    ...StatusCounted
  }
  refunds {
    ...StatusCounted
  }
  chargeJobs {
    ...StatusCounted
  }
  strandedJobs
  oldestPendingAgeSeconds
  publishedPerMinute {
    at
    value
  }
  failuresPerMinute {
    at
    value
  }
  publishLatencyMs {
    p50
    p99
  }
  openDeadLetters
  brokerConnected
  asOf
}
fragment Counted on Count {
  value
  precision
}`, {"hash":"sha256:222dd8bccf2d7e5d0ce8f4a957c82dfa6a4d3e98c7e4af7f8eae054a326486b9"}) as unknown as TypedDocumentString<OverviewChangedSubscription, OverviewChangedSubscriptionVariables>;
export const OverviewDocument = new TypedDocumentString(`
    query Overview {
  overview {
    ...OverviewNumbers
  }
}
    fragment StatusCounted on StatusCount {
  status
  count {
    ...Counted
  }
}
fragment OverviewNumbers on Overview {
  outbox {
    ...StatusCounted
  }
  payments {
    ...StatusCounted
  }
  refunds {
    ...StatusCounted
  }
  chargeJobs {
    ...StatusCounted
  }
  strandedJobs
  oldestPendingAgeSeconds
  publishedPerMinute {
    at
    value
  }
  failuresPerMinute {
    at
    value
  }
  publishLatencyMs {
    p50
    p99
  }
  openDeadLetters
  brokerConnected
  asOf
}
fragment Counted on Count {
  value
  precision
}`, {"hash":"sha256:4ec6a6a3062e27d9b7228b19b4cf09798ce75a88bd9cb476b55a4e2c2d79a7d6"}) as unknown as TypedDocumentString<OverviewQuery, OverviewQueryVariables>;
export const BooksDocument = new TypedDocumentString(`
    query Books {
  invariants {
    name
    description
    holds
    violations
    sampleIds
    checkedAt
  }
}
    `, {"hash":"sha256:c62421b9397beb27d3930a492c6134dfeb78b3d83adcb6f98f17904d6f5c6870"}) as unknown as TypedDocumentString<BooksQuery, BooksQueryVariables>;
export const PaymentsDocument = new TypedDocumentString(`
    query Payments($first: Int, $after: String, $last: Int, $before: String, $filter: PaymentFilter) {
  page: payments(
    first: $first
    after: $after
    last: $last
    before: $before
    filter: $filter
  ) {
    nodes {
      ...PaymentRow
    }
    pageInfo {
      ...Page
    }
  }
}
    fragment PaymentRow on Payment {
  id
  orderId
  userId
  meetingId
  orderName
  amount
  status
  failureCode
  createdAt
  updatedAt
}
fragment Page on PageInfo {
  hasNextPage
  hasPreviousPage
  startCursor
  endCursor
}`, {"hash":"sha256:bf6ca34164b1f18ddbdf65b07550fc4c8c6527874d29ed726002b7dff2e9ed3e"}) as unknown as TypedDocumentString<PaymentsQuery, PaymentsQueryVariables>;
export const PaymentsCountDocument = new TypedDocumentString(`
    query PaymentsCount($filter: PaymentFilter) {
  page: payments(first: 1, filter: $filter) {
    count {
      ...Counted
    }
  }
}
    fragment Counted on Count {
  value
  precision
}`, {"hash":"sha256:4ab409d32e792b11dfa059d734d3a9ad8cae53d761c38e9e19448c20585553e1"}) as unknown as TypedDocumentString<PaymentsCountQuery, PaymentsCountQueryVariables>;
export const PaymentDocument = new TypedDocumentString(`
    query Payment($id: ID!) {
  payment(id: $id) {
    ...PaymentDetail
  }
}
    fragment FailureRow on Failure {
  id
  kind
  severity
  code
  message
  attempt
  subjectType
  subjectId
  occurredAt
  cursor
}
fragment SentEvent on OutboxEvent {
  id
  eventType
  status
  createdAt
  updatedAt
  publishedAt
  waitingFor {
    ...Wait
  }
  failures {
    ...FailureRow
  }
}
fragment PaymentRow on Payment {
  id
  orderId
  userId
  meetingId
  orderName
  amount
  status
  failureCode
  createdAt
  updatedAt
}
fragment Action on AvailableAction {
  action
  allowed
  reason
}
fragment Wait on WaitState {
  reason
  until
  since
  detail
}
fragment Call on ProviderCall {
  provider
  operation
  idempotencyKey
  outcome
  code
  durationMs
  at
}
fragment PaymentDetail on Payment {
  ...PaymentRow
  provider
  method
  paymentKey
  flowId
  failureMessage
  requestedAt
  completedAt
  waitingFor {
    ...Wait
  }
  availableActions {
    ...Action
  }
  providerCalls {
    ...Call
  }
  refunds {
    id
    status
    amount
    reason
    createdAt
    completedAt
    waitingFor {
      ...Wait
    }
  }
  outboxEvents {
    ...SentEvent
  }
  failures {
    ...FailureRow
  }
}`, {"hash":"sha256:5d19417231044f8fedc3b94b4703b72684133d2891ca457e2eaaa9cd682fe56d"}) as unknown as TypedDocumentString<PaymentQuery, PaymentQueryVariables>;
export const PaymentChangedDocument = new TypedDocumentString(`
    subscription PaymentChanged($id: ID!) {
  row: paymentChanged(id: $id) {
    ...PaymentDetail
  }
}
    fragment FailureRow on Failure {
  id
  kind
  severity
  code
  message
  attempt
  subjectType
  subjectId
  occurredAt
  cursor
}
fragment SentEvent on OutboxEvent {
  id
  eventType
  status
  createdAt
  updatedAt
  publishedAt
  waitingFor {
    ...Wait
  }
  failures {
    ...FailureRow
  }
}
fragment PaymentRow on Payment {
  id
  orderId
  userId
  meetingId
  orderName
  amount
  status
  failureCode
  createdAt
  updatedAt
}
fragment Action on AvailableAction {
  action
  allowed
  reason
}
fragment Wait on WaitState {
  reason
  until
  since
  detail
}
fragment Call on ProviderCall {
  provider
  operation
  idempotencyKey
  outcome
  code
  durationMs
  at
}
fragment PaymentDetail on Payment {
  ...PaymentRow
  provider
  method
  paymentKey
  flowId
  failureMessage
  requestedAt
  completedAt
  waitingFor {
    ...Wait
  }
  availableActions {
    ...Action
  }
  providerCalls {
    ...Call
  }
  refunds {
    id
    status
    amount
    reason
    createdAt
    completedAt
    waitingFor {
      ...Wait
    }
  }
  outboxEvents {
    ...SentEvent
  }
  failures {
    ...FailureRow
  }
}`, {"hash":"sha256:376f8151b56d2720bdca6fe627a12684976628cfc909864d487449567d2f13e4"}) as unknown as TypedDocumentString<PaymentChangedSubscription, PaymentChangedSubscriptionVariables>;
export const RefundPaymentDocument = new TypedDocumentString(`
    mutation RefundPayment($input: RefundPaymentInput!) {
  result: refundPayment(input: $input) {
    refund {
      id
      status
    }
    userErrors {
      code
      message
    }
  }
}
    `, {"hash":"sha256:ea7c34b6f95dd5f474ef3577c3ad273ddee5066188d160a4f7abda36c1151242"}) as unknown as TypedDocumentString<RefundPaymentMutation, RefundPaymentMutationVariables>;
export const ReconcilePaymentDocument = new TypedDocumentString(`
    mutation ReconcilePayment($input: OperatorActionInput!) {
  result: reconcilePayment(input: $input) {
    payment {
      id
      status
    }
    userErrors {
      code
      message
    }
  }
}
    `, {"hash":"sha256:41899842f352f65f12507ac2a9a005951d314ecdf8bb291089e7746630d1f4ac"}) as unknown as TypedDocumentString<ReconcilePaymentMutation, ReconcilePaymentMutationVariables>;
export const ProductsDocument = new TypedDocumentString(`
    query Products {
  canProducts(inactiveToo: true) {
    ...ProductRow
  }
}
    fragment ProductRow on CanProduct {
  container
  sku
  can
  price
  title
  isActive
  updatedAt
}`, {"hash":"sha256:cc7cf4f3216ebaa8400d0f647d60b4d11f4b8064d4fcc125cbbbbd9f29ee7f12"}) as unknown as TypedDocumentString<ProductsQuery, ProductsQueryVariables>;
export const SaveProductDocument = new TypedDocumentString(`
    mutation SaveProduct($input: CanProductInput!, $expectedUpdatedAt: DateTime, $mustBeNew: Boolean!, $reason: String) {
  result: upsertCanProduct(
    input: $input
    expectedUpdatedAt: $expectedUpdatedAt
    mustBeNew: $mustBeNew
    reason: $reason
  ) {
    canProduct {
      ...ProductRow
    }
    userErrors {
      code
      message
    }
  }
}
    fragment ProductRow on CanProduct {
  container
  sku
  can
  price
  title
  isActive
  updatedAt
}`, {"hash":"sha256:141a68b810cdf8d7fd55096077fa4b0c33fa461536af73bbc1498db610f796c9"}) as unknown as TypedDocumentString<SaveProductMutation, SaveProductMutationVariables>;
export const PromotionsDocument = new TypedDocumentString(`
    query Promotions($first: Int, $after: String, $last: Int, $before: String) {
  page: chargeEvents(first: $first, after: $after, last: $last, before: $before) {
    nodes {
      ...PromotionRow
    }
    pageInfo {
      ...Page
    }
  }
}
    fragment Page on PageInfo {
  hasNextPage
  hasPreviousPage
  startCursor
  endCursor
}
fragment PromotionRow on ChargeEvent {
  id
  title
  startAt
  endAt
  addPercent
  availableCount
  isActive
  createdAt
  updatedAt
}`, {"hash":"sha256:be6c30a4a3e8d43a36d20e16aae1f2146637f1aa9acfec61c61fef8cc48a5863"}) as unknown as TypedDocumentString<PromotionsQuery, PromotionsQueryVariables>;
export const PromotionsCountDocument = new TypedDocumentString(`
    query PromotionsCount {
  page: chargeEvents(first: 1) {
    count {
      ...Counted
    }
  }
}
    fragment Counted on Count {
  value
  precision
}`, {"hash":"sha256:c029e0a235ebe388e7755329c8c1204ee812b7adb68eedca69f61407f1a1e7f4"}) as unknown as TypedDocumentString<PromotionsCountQuery, PromotionsCountQueryVariables>;
export const PromotionDocument = new TypedDocumentString(`
    query Promotion($id: ID!) {
  chargeEvent(id: $id) {
    ...PromotionRow
  }
}
    fragment PromotionRow on ChargeEvent {
  id
  title
  startAt
  endAt
  addPercent
  availableCount
  isActive
  createdAt
  updatedAt
}`, {"hash":"sha256:5f83c5bda1fd4f1805d27350b06a0367df86998231727a438081981413770b87"}) as unknown as TypedDocumentString<PromotionQuery, PromotionQueryVariables>;
export const CreatePromotionDocument = new TypedDocumentString(`
    mutation CreatePromotion($input: ChargeEventInput!, $reason: String) {
  result: createChargeEvent(input: $input, reason: $reason) {
    chargeEvent {
      ...PromotionRow
    }
    userErrors {
      code
      message
      field
    }
  }
}
    fragment PromotionRow on ChargeEvent {
  id
  title
  startAt
  endAt
  addPercent
  availableCount
  isActive
  createdAt
  updatedAt
}`, {"hash":"sha256:af79e871d60f5e88890036ebeb69b149bc053dc8d0470aa16083cb464eddb190"}) as unknown as TypedDocumentString<CreatePromotionMutation, CreatePromotionMutationVariables>;
export const UpdatePromotionDocument = new TypedDocumentString(`
    mutation UpdatePromotion($id: ID!, $input: ChargeEventInput!, $expectedUpdatedAt: DateTime, $reason: String) {
  result: updateChargeEvent(
    id: $id
    input: $input
    expectedUpdatedAt: $expectedUpdatedAt
    reason: $reason
  ) {
    chargeEvent {
      ...PromotionRow
    }
    userErrors {
      code
      message
      field
    }
  }
}
    fragment PromotionRow on ChargeEvent {
  id
  title
  startAt
  endAt
  addPercent
  availableCount
  isActive
  createdAt
  updatedAt
}`, {"hash":"sha256:7cfb00ea13e683bede672ddf1ec11feed0e8ef9249446174b8d19d2022327f71"}) as unknown as TypedDocumentString<UpdatePromotionMutation, UpdatePromotionMutationVariables>;
export const RefundsDocument = new TypedDocumentString(`
    query Refunds($first: Int, $after: String, $last: Int, $before: String, $filter: RefundFilter) {
  page: refunds(
    first: $first
    after: $after
    last: $last
    before: $before
    filter: $filter
  ) {
    nodes {
      ...RefundRow
    }
    pageInfo {
      ...Page
    }
  }
}
    fragment Page on PageInfo {
  hasNextPage
  hasPreviousPage
  startCursor
  endCursor
}
fragment RefundRow on Refund {
  id
  paymentId
  userId
  meetingId
  amount
  reason
  requestedBy
  source
  status
  failureCode
  attemptCount
  createdAt
  updatedAt
}`, {"hash":"sha256:e0ef15777a2af1d51383d91281f0ca6fbc358631d2ea4704499777237216696f"}) as unknown as TypedDocumentString<RefundsQuery, RefundsQueryVariables>;
export const RefundsCountDocument = new TypedDocumentString(`
    query RefundsCount($filter: RefundFilter) {
  page: refunds(first: 1, filter: $filter) {
    count {
      ...Counted
    }
  }
}
    fragment Counted on Count {
  value
  precision
}`, {"hash":"sha256:5eff5e1578a2826a51a8939a183e679bd70b62b18edba7f340f5a22b8d59e4c3"}) as unknown as TypedDocumentString<RefundsCountQuery, RefundsCountQueryVariables>;
export const RefundDocument = new TypedDocumentString(`
    query Refund($id: ID!) {
  refund(id: $id) {
    ...RefundDetail
  }
}
    fragment FailureRow on Failure {
  id
  kind
  severity
  code
  message
  attempt
  subjectType
  subjectId
  occurredAt
  cursor
}
fragment SentEvent on OutboxEvent {
  id
  eventType
  status
  createdAt
  updatedAt
  publishedAt
  waitingFor {
    ...Wait
  }
  failures {
    ...FailureRow
  }
}
fragment Action on AvailableAction {
  action
  allowed
  reason
}
fragment Wait on WaitState {
  reason
  until
  since
  detail
}
fragment Call on ProviderCall {
  provider
  operation
  idempotencyKey
  outcome
  code
  durationMs
  at
}
fragment RefundRow on Refund {
  id
  paymentId
  userId
  meetingId
  amount
  reason
  requestedBy
  source
  status
  failureCode
  attemptCount
  createdAt
  updatedAt
}
fragment RefundDetail on Refund {
  ...RefundRow
  providerTransactionKey
  flowId
  failureMessage
  completedAt
  payment {
    id
    orderId
    orderName
    status
    createdAt
  }
  waitingFor {
    ...Wait
  }
  availableActions {
    ...Action
  }
  providerCalls {
    ...Call
  }
  outboxEvents {
    ...SentEvent
  }
  failures {
    ...FailureRow
  }
}`, {"hash":"sha256:203543248b6a862b6e065c7505d9c289290c986c68446721d86a8f732e1a58d5"}) as unknown as TypedDocumentString<RefundQuery, RefundQueryVariables>;
export const RefundChangedDocument = new TypedDocumentString(`
    subscription RefundChanged($id: ID!) {
  row: refundChanged(id: $id) {
    ...RefundDetail
  }
}
    fragment FailureRow on Failure {
  id
  kind
  severity
  code
  message
  attempt
  subjectType
  subjectId
  occurredAt
  cursor
}
fragment SentEvent on OutboxEvent {
  id
  eventType
  status
  createdAt
  updatedAt
  publishedAt
  waitingFor {
    ...Wait
  }
  failures {
    ...FailureRow
  }
}
fragment Action on AvailableAction {
  action
  allowed
  reason
}
fragment Wait on WaitState {
  reason
  until
  since
  detail
}
fragment Call on ProviderCall {
  provider
  operation
  idempotencyKey
  outcome
  code
  durationMs
  at
}
fragment RefundRow on Refund {
  id
  paymentId
  userId
  meetingId
  amount
  reason
  requestedBy
  source
  status
  failureCode
  attemptCount
  createdAt
  updatedAt
}
fragment RefundDetail on Refund {
  ...RefundRow
  providerTransactionKey
  flowId
  failureMessage
  completedAt
  payment {
    id
    orderId
    orderName
    status
    createdAt
  }
  waitingFor {
    ...Wait
  }
  availableActions {
    ...Action
  }
  providerCalls {
    ...Call
  }
  outboxEvents {
    ...SentEvent
  }
  failures {
    ...FailureRow
  }
}`, {"hash":"sha256:437e753b151174ff9c0a9c41dceba917008736cd02bd5c49b636c44815fac9d3"}) as unknown as TypedDocumentString<RefundChangedSubscription, RefundChangedSubscriptionVariables>;
export const RetryRefundDocument = new TypedDocumentString(`
    mutation RetryRefund($input: OperatorActionInput!) {
  result: retryRefund(input: $input) {
    refund {
      id
      status
    }
    userErrors {
      code
      message
    }
  }
}
    `, {"hash":"sha256:f5e951176e8917a6b1cc0f31d9daf2842d25bc04849aab173f762742e2478760"}) as unknown as TypedDocumentString<RetryRefundMutation, RetryRefundMutationVariables>;
