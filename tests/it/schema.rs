//! The published schema: `schema.graphql` is what the code has, and the code has what the contract says.

use std::collections::BTreeMap;

use async_graphql::parser::{
    parse_schema,
    types::{FieldDefinition, InputValueDefinition, TypeKind, TypeSystemDefinition},
};

fn read(path: &str) -> String {
    std::fs::read_to_string(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Everything that a client can rely on, by its place: `Payment.amount` → `Long!`, `PaymentStatus.FAILED` → `value`.
fn promises(sdl: &str) -> BTreeMap<String, String> {
    let mut promises = BTreeMap::new();
    for definition in parse_schema(sdl).unwrap().definitions {
        let ty = match definition {
            TypeSystemDefinition::Type(ty) => ty.node,
            TypeSystemDefinition::Schema(schema) => {
                let roots = [&schema.node.query, &schema.node.mutation, &schema.node.subscription];
                let roots = roots.map(|root| root.as_ref().map(|name| name.node.to_string()));
                promises.insert("schema".to_owned(), format!("{roots:?}"));
                continue;
            }
            TypeSystemDefinition::Directive(_) => continue,
        };
        let name = ty.name.node.to_string();
        match ty.kind {
            TypeKind::Scalar => drop(promises.insert(name, "scalar".to_owned())),
            TypeKind::Object(object) => {
                promises.insert(name.clone(), "type".to_owned());
                object.fields.iter().for_each(|field| promise_field(&mut promises, &name, &field.node));
            }
            TypeKind::InputObject(input) => {
                promises.insert(name.clone(), "input".to_owned());
                input.fields.iter().for_each(|field| promise_input(&mut promises, &name, &field.node));
            }
            TypeKind::Enum(values) => {
                promises.insert(name.clone(), "enum".to_owned());
                for value in values.values {
                    promises.insert(format!("{name}.{}", value.node.value.node), "value".to_owned());
                }
            }
            TypeKind::Union(union) => {
                promises.insert(name.clone(), "union".to_owned());
                for member in union.members {
                    promises.insert(format!("{name} | {}", member.node), "member".to_owned());
                }
            }
            TypeKind::Interface(_) => panic!("{name}: guards are skipped through interfaces"),
        }
    }
    promises
}

fn promise_field(promises: &mut BTreeMap<String, String>, parent: &str, field: &FieldDefinition) {
    let place = format!("{parent}.{}", field.name.node);
    for argument in &field.arguments {
        promise_input(promises, &format!("{place}("), &argument.node);
    }
    promises.insert(place, field.ty.node.to_string());
}

fn promise_input(promises: &mut BTreeMap<String, String>, parent: &str, input: &InputValueDefinition) {
    let default = input.default_value.as_ref().map(|value| format!(" = {}", value.node)).unwrap_or_default();
    promises.insert(format!("{parent}.{}", input.name.node), format!("{}{default}", input.ty.node));
}

#[test]
fn the_published_file_is_what_the_code_has() {
    let current = paydesk::graphql::sdl();
    assert!(
        read("schema.graphql").trim_end() == current.trim_end(),
        "schema.graphql is not current: cargo run -- schema > schema.graphql"
    );
}

#[test]
fn everything_in_the_contract_is_there_as_the_contract_has_it() {
    let ours = promises(&paydesk::graphql::sdl());
    let broken: Vec<String> = promises(&read("tests/it/contract.graphql"))
        .into_iter()
        .filter(|(place, promised)| ours.get(place) != Some(promised))
        .map(|(place, promised)| format!("{place}: {promised}, but it is {:?}", ours.get(&place)))
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// A client of the contract sends what the contract knows, so whatever is more must be possible to leave out.
#[test]
fn what_the_contract_does_not_know_is_never_required_of_its_clients() {
    let contract = promises(&read("tests/it/contract.graphql"));
    let required: Vec<String> = promises(&paydesk::graphql::sdl())
        .into_iter()
        .filter(|(place, ty)| {
            let Some((parent, _)) = place.rsplit_once('.') else { return false };
            let parent = parent.trim_end_matches('(');
            let is_input = place.contains('(') || contract.get(parent).is_some_and(|kind| kind == "input");
            is_input && contract.contains_key(parent) && !contract.contains_key(place) && ty.ends_with('!')
        })
        .map(|(place, ty)| format!("{place}: {ty}"))
        .collect();
    assert!(required.is_empty(), "{}", required.join("\n"));
}

#[test]
fn everything_published_is_described_and_each_root_field_says_for_whom() {
    let mut silent = Vec::new();
    for definition in parse_schema(paydesk::graphql::sdl()).unwrap().definitions {
        let TypeSystemDefinition::Type(ty) = definition else { continue };
        let name = ty.node.name.node.to_string();
        if ty.node.description.is_none() {
            silent.push(name.clone());
        }
        let TypeKind::Object(object) = ty.node.kind else { continue };
        let is_root = ["Query", "Mutation", "Subscription"].contains(&name.as_str());
        for field in object.fields {
            let description = field.node.description.map(|text| text.node).unwrap_or_default();
            let says_for_whom = ["ADMIN", "Any role"].iter().any(|role| description.contains(role));
            if description.is_empty() || (is_root && !says_for_whom) {
                silent.push(format!("{name}.{}", field.node.name.node));
            }
        }
    }
    assert_eq!(silent, Vec::<String>::new());
}
