//! Who the caller is, as the API sees it.

#![expect(clippy::unused_async, reason = "async-graphql's macros ask for async functions")]

use async_graphql::{Context, Object, SimpleObject};

use super::{error::ApiError, guard, scalars::DateTime};

/// The deployment's name, from the settings.
pub struct Environment(pub String);

/// The bearer of the token.
#[derive(SimpleObject)]
pub struct Viewer {
    /// The token's `sub`.
    subject: String,
    /// The token's `name`.
    name: Option<String>,
    /// Those of `ADMIN`, `OPERATOR` and `SERVICE` that the token carries.
    roles: Vec<&'static str>,
    /// When the token ends.
    token_expires_at: DateTime,
    /// The deployment's name.
    environment: String,
}

/// The part of the query root.
#[derive(Default)]
pub struct ViewerQuery;

#[Object]
impl ViewerQuery {
    /// Who the caller is. ADMIN, OPERATOR, SERVICE.
    async fn viewer(&self, ctx: &Context<'_>) -> Result<Viewer, ApiError> {
        let principal = guard::any_role(ctx)?;
        let environment = ctx.data_opt::<Environment>();
        Ok(Viewer {
            subject: principal.subject().to_owned(),
            name: principal.name().map(str::to_owned),
            roles: principal.roles().iter().map(|role| role.as_str()).collect(),
            token_expires_at: principal.expires_at().into(),
            environment: environment.map(|environment| environment.0.clone()).unwrap_or_default(),
        })
    }
}
