use crate::types::Instant;

/// A role of the token's roles claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Everything.
    Admin,
    /// Reads everything, changes nothing.
    Operator,
    /// Another service: the service mutations and a few reads.
    Service,
}

impl Role {
    /// The role as the token and the API write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "ADMIN",
            Self::Operator => "OPERATOR",
            Self::Service => "SERVICE",
        }
    }

    /// Reads a role as the token writes it; anything else is no role of ours.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Admin, Self::Operator, Self::Service].into_iter().find(|role| role.as_str() == text)
    }
}

/// The bearer of a verified token.
#[derive(Debug, Clone)]
pub struct Principal {
    subject: String,
    name: Option<String>,
    roles: Vec<Role>,
    expires_at: Instant,
}

impl Principal {
    /// Made by token verification only; `roles` may be empty (a valid token that may do nothing here).
    pub(super) fn verified(
        subject: String,
        name: Option<String>,
        roles: Vec<Role>,
        expires_at: Instant,
    ) -> Self {
        Self { subject, name, roles, expires_at }
    }

    /// The token's `sub`.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// The token's `name`, for display.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The roles of ours that the token carries.
    pub fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// When the token ends.
    pub fn expires_at(&self) -> Instant {
        self.expires_at
    }

    /// Whether the token carries `role`.
    pub fn has(&self, role: Role) -> bool {
        self.roles.contains(&role)
    }

    /// Proof for operator mutations: ADMIN.
    pub fn admin(&self) -> Option<AdminPrincipal> {
        self.has(Role::Admin).then(|| AdminPrincipal(self.clone()))
    }

    /// Proof for service mutations: SERVICE or ADMIN.
    pub fn service(&self) -> Option<ServicePrincipal> {
        (self.has(Role::Service) || self.has(Role::Admin)).then(|| ServicePrincipal(self.clone()))
    }

    /// Proof for reading everything: ADMIN or OPERATOR.
    pub fn reader(&self) -> Option<ReaderPrincipal> {
        (self.has(Role::Admin) || self.has(Role::Operator)).then(|| ReaderPrincipal(self.clone()))
    }
}

macro_rules! proof {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $name(Principal);

        impl $name {
            /// Who it is.
            pub fn principal(&self) -> &Principal {
                &self.0
            }
        }
    };
}

proof! {
    /// Proof of a verified ADMIN token.
    AdminPrincipal
}
proof! {
    /// Proof of a verified SERVICE or ADMIN token.
    ServicePrincipal
}
proof! {
    /// Proof of a verified ADMIN or OPERATOR token.
    ReaderPrincipal
}

#[cfg(test)]
impl Principal {
    /// A principal for tests that have no token to verify.
    pub(crate) fn for_tests(subject: &str, roles: &[Role], expires_at: Instant) -> Self {
        Self::verified(subject.to_owned(), None, roles.to_vec(), expires_at)
    }
}
