//! Who is asking.

use async_graphql::{Context, Object, SimpleObject};

use super::{error::ApiError, guard, scalars::DateTime, schema::Services};

/// The bearer of the token.
#[derive(Debug, Clone, SimpleObject)]
pub struct Viewer {
    /// The token's subject.
    pub subject: String,
    /// The name to show.
    pub name: Option<String>,
    /// ADMIN, OPERATOR, SERVICE.
    pub roles: Vec<String>,
    /// When the token ends.
    pub token_expires_at: DateTime,
    /// The deployment's name.
    pub environment: String,
}

/// Reads about the caller.
#[derive(Default)]
pub struct ViewerQuery;

#[Object]
impl ViewerQuery {
    /// Who the token says is asking. Any role.
    async fn viewer(&self, ctx: &Context<'_>) -> Result<Viewer, ApiError> {
        let principal = guard::any_role(ctx)?;
        Ok(Viewer {
            subject: principal.subject().to_owned(),
            name: principal.name().map(str::to_owned),
            roles: principal.roles().iter().map(|role| role.as_str().to_owned()).collect(),
            token_expires_at: DateTime(principal.expires_at()),
            environment: Services::of(ctx)?.environment.clone(),
        })
    }
}
