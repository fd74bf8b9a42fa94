//! The schema: the root types, put together from each aggregate's part.

use async_graphql::{EmptyMutation, EmptySubscription, MergedObject, Schema, SchemaBuilder};

use super::{
    api::{Api, ApiOptions},
    viewer::{Environment, ViewerQuery},
};

/// What the resolvers work with.
#[derive(Debug, Clone)]
pub struct Services {
    /// The deployment's name.
    pub environment: String,
}

/// Reads.
#[derive(MergedObject, Default)]
pub struct Query(ViewerQuery);

fn builder() -> SchemaBuilder<Query, EmptyMutation, EmptySubscription> {
    Schema::build(Query::default(), EmptyMutation, EmptySubscription)
}

/// The API over these services.
pub fn api(services: Services, options: ApiOptions) -> Api {
    let schema = builder().data(Environment(services.environment));
    Api::new(schema, options, |_data| {})
}

/// The schema in GraphQL's own language: schema.graphql is exactly this.
pub fn sdl() -> String {
    builder().finish().sdl()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        auth::Role,
        graphql::{RateLimit, limits::Shape, testing::caller},
    };

    #[test]
    fn the_limits_can_read_the_schema() {
        assert!(Shape::from_sdl(&sdl()).field(Some("Query"), "viewer").is_some());
    }

    #[tokio::test]
    async fn the_viewer_is_the_bearer_and_needs_a_role() {
        let rate_limit = RateLimit { operator: 100, service: 100 };
        let services = Services { environment: "staging".to_owned() };
        let api = api(services, ApiOptions { introspection: false, rate_limit });
        let body = json!({ "query": "{ viewer { subject name roles environment } }" }).to_string();
        let answer = api.execute(body.as_bytes(), &caller(&[Role::Operator])).await;
        let answer: Value = serde_json::from_slice(&answer.body).unwrap();
        let viewer =
            json!({ "subject": "alice", "name": null, "roles": ["OPERATOR"], "environment": "staging" });
        assert_eq!(answer, json!({ "data": { "viewer": viewer } }));
        let answer = api.execute(body.as_bytes(), &caller(&[])).await;
        assert!(String::from_utf8_lossy(&answer.body).contains("FORBIDDEN"));
    }
}
