//! Who may: each root field begins with one of these, and hands the proof on to its use case.
//!
//! They are functions and not async-graphql guards, because a guard on a field replaces its type's guard,
//! and because a proof in hand is what the use cases ask for.

use async_graphql::Context;

use super::error::ApiError;
use crate::auth::{AdminPrincipal, Principal, ReaderPrincipal, ServicePrincipal};

/// The caller; without one nothing was ever going to run.
pub fn principal<'a>(ctx: &Context<'a>) -> Result<&'a Principal, ApiError> {
    ctx.data_opt::<Principal>().ok_or_else(ApiError::unauthenticated)
}

/// Operator mutations: ADMIN.
pub fn admin(ctx: &Context<'_>) -> Result<AdminPrincipal, ApiError> {
    principal(ctx)?.admin().ok_or_else(ApiError::forbidden)
}

/// Reads of everything, and fields that only operators see: ADMIN or OPERATOR.
pub fn reader(ctx: &Context<'_>) -> Result<ReaderPrincipal, ApiError> {
    principal(ctx)?.reader().ok_or_else(ApiError::forbidden)
}

/// Service mutations: SERVICE or ADMIN.
pub fn service(ctx: &Context<'_>) -> Result<ServicePrincipal, ApiError> {
    principal(ctx)?.service().ok_or_else(ApiError::forbidden)
}

/// The few reads that a SERVICE may do too: any role of ours. A valid token without one may do nothing.
pub fn any_role<'a>(ctx: &Context<'a>) -> Result<&'a Principal, ApiError> {
    principal(ctx).and_then(|principal| {
        if principal.roles().is_empty() { Err(ApiError::forbidden()) } else { Ok(principal) }
    })
}
