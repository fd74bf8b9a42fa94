use serde_json::{Map, Value};

use super::Role;

/// Where a token holds the roles: the path `realm_access.roles` means `{"realm_access": {"roles": …}}`.
#[derive(Debug, Clone)]
pub(super) struct RolesClaim(Vec<String>);

impl RolesClaim {
    /// Reads the setting. A name with a slash is taken whole: such names are addresses, whose dots lead nowhere.
    pub(super) fn parse(text: &str) -> Self {
        if text.contains('/') {
            return Self(vec![text.to_owned()]);
        }
        Self(text.split('.').map(str::to_owned).collect())
    }

    /// The roles of ours in an array or a single string; whatever else stands there is ignored.
    pub(super) fn read(&self, claims: &Map<String, Value>) -> Vec<Role> {
        let Some((first, rest)) = self.0.split_first() else {
            return Vec::new();
        };
        let found = rest.iter().try_fold(claims.get(first), |value, step| value.map(|value| value.get(step)));
        let mut roles = match found.flatten() {
            Some(Value::String(one)) => Role::parse(one).into_iter().collect(),
            Some(Value::Array(many)) => {
                many.iter().filter_map(Value::as_str).filter_map(Role::parse).collect()
            }
            _ => Vec::new(),
        };
        roles.sort_unstable();
        roles.dedup();
        roles
    }

    /// Claims that hold these roles and nothing else.
    pub(super) fn write(&self, roles: &[Role]) -> Map<String, Value> {
        let names: Value = roles.iter().map(|role| role.as_str()).collect();
        let nest = |inner, step: &String| Value::Object(Map::from_iter([(step.clone(), inner)]));
        match self.0.iter().rev().fold(names, nest) {
            Value::Object(claims) => claims,
            _ => Map::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(path: &str, claims: &Value) -> Vec<Role> {
        RolesClaim::parse(path).read(claims.as_object().unwrap())
    }

    #[test]
    fn an_array_or_one_string_names_roles_and_unknown_ones_are_ignored() {
        assert_eq!(read("roles", &json!({ "roles": "SERVICE" })), [Role::Service]);
        let mixed = json!({ "roles": ["offline_access", "OPERATOR", 7, null, "ADMIN", "ADMIN", "admin"] });
        assert_eq!(read("roles", &mixed), [Role::Admin, Role::Operator]);
        for nothing in [
            json!({}),
            json!({ "roles": null }),
            json!({ "roles": { "ADMIN": true } }),
            json!({ "roles": 1 }),
        ] {
            assert_eq!(read("roles", &nothing), [], "{nothing}");
        }
    }

    #[test]
    fn a_dotted_path_reaches_into_objects_and_an_address_is_one_name() {
        let claims = json!({
            "realm_access": { "roles": ["ADMIN"] }, "https://id.example.com/roles": ["OPERATOR"], "flat": "ADMIN",
        });
        assert_eq!(read("realm_access.roles", &claims), [Role::Admin]);
        assert_eq!(read("https://id.example.com/roles", &claims), [Role::Operator]);
        assert_eq!(read("realm_access", &claims), []);
        assert_eq!(read("flat.roles", &claims), []);
        assert_eq!(read("realm_access.missing.roles", &claims), []);
    }

    #[test]
    fn what_is_written_is_read_again() {
        for path in ["roles", "realm_access.roles", "a.b.c", "https://id.example.com/roles"] {
            let claim = RolesClaim::parse(path);
            assert_eq!(claim.read(&claim.write(&[Role::Admin, Role::Service])), [Role::Admin, Role::Service]);
        }
    }
}
