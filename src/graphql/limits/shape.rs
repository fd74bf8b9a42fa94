//! The schema as the cost needs it: what each field leads to, and whether that is a list.
//!
//! It is read once from the schema's own SDL, so that a new list has its cost without anyone thinking of it.

use std::collections::HashMap;

use async_graphql::parser::{
    parse_schema,
    types::{BaseType, FieldDefinition, Type, TypeKind, TypeSystemDefinition},
};

/// Types, their fields and the roots.
#[derive(Debug, Default)]
pub struct Shape {
    types: HashMap<String, HashMap<String, FieldShape>>,
}

/// One field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldShape {
    /// The type that it leads to, without list and non-null.
    pub target: String,
    /// How many of them.
    pub many: Many,
}

/// How many values a field leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Many {
    /// One, or a page's own parts: the page's size is counted at its connection.
    One,
    /// A list without arguments of its own.
    List,
    /// A connection: as many as `first` or `last` says.
    Page,
}

impl Shape {
    /// Reads it from SDL; what cannot be read has no cost but one per field, and a test says if that happens.
    pub fn from_sdl(sdl: &str) -> Self {
        let Ok(document) = parse_schema(sdl) else { return Self::default() };
        let mut types = HashMap::new();
        for definition in document.definitions {
            let TypeSystemDefinition::Type(definition) = definition else { continue };
            let fields = match definition.node.kind {
                TypeKind::Object(object) => object.fields,
                TypeKind::Interface(interface) => interface.fields,
                _ => continue,
            };
            let parent = definition.node.name.node.to_string();
            let shapes = fields.iter().map(|field| field_shape(&parent, &field.node)).collect();
            types.insert(parent, shapes);
        }
        Self { types }
    }

    /// The field of a type; none for what the schema does not have.
    pub fn field(&self, parent: Option<&str>, field: &str) -> Option<&FieldShape> {
        self.types.get(parent?)?.get(field)
    }
}

fn field_shape(parent: &str, field: &FieldDefinition) -> (String, FieldShape) {
    let (target, listed) = unwrap(&field.ty.node);
    let many = if target.ends_with("Connection") {
        Many::Page
    } else if listed && !parent.ends_with("Connection") {
        Many::List
    } else {
        Many::One
    };
    (field.name.node.to_string(), FieldShape { target: target.to_owned(), many })
}

fn unwrap(ty: &Type) -> (&str, bool) {
    match &ty.base {
        BaseType::Named(name) => (name.as_str(), false),
        BaseType::List(inner) => (unwrap(inner).0, true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_real_schema_is_read_down_from_its_roots() {
        let shape = Shape::from_sdl(&crate::graphql::sdl());
        let many = |parent, field| shape.field(Some(parent), field).map(|field| field.many);
        assert_eq!(many("Query", "payments"), Some(Many::Page));
        assert_eq!(many("Query", "payment"), Some(Many::One));
        assert_eq!(many("Mutation", "createKeyInPayment"), Some(Many::One));
        assert_eq!(many("Subscription", "failures"), Some(Many::One));
        assert_eq!(many("Payment", "outboxEvents"), Some(Many::List));
        for (parent, fields) in &shape.types {
            for (name, field) in fields {
                let is_page = field.target.ends_with("Connection");
                assert_eq!(field.many == Many::Page, is_page, "{parent}.{name}");
            }
        }
    }

    #[test]
    fn tells_pages_lists_and_single_values_apart() {
        let shape = Shape::from_sdl(
            "type Query { a: A! as(first: Int): AConnection! }
             type AConnection { nodes: [A!]! edges: [AEdge!]! }
             type A { tags: [String!]! others: [[A!]!] }",
        );
        let many = |parent, field| shape.field(Some(parent), field).map(|field| field.many);
        assert_eq!(many("Query", "a"), Some(Many::One));
        assert_eq!(many("Query", "as"), Some(Many::Page));
        assert_eq!(many("AConnection", "nodes"), Some(Many::One));
        assert_eq!(many("A", "others"), Some(Many::List));
        assert_eq!(shape.field(Some("A"), "others").map(|field| field.target.as_str()), Some("A"));
        assert_eq!(many("Query", "missing"), None);
    }
}
