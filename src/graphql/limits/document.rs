//! The parsed document: aliases, directives, fields, depth, mutations and cost, before validation.
//!
//! Each fragment is measured once and its figures are added wherever it is spread, saturating, so that a
//! fragment bomb costs no more time than its text is long.

use std::collections::HashMap;

use async_graphql::{
    Name, Positioned, Value, Variables,
    parser::types::{
        DocumentOperations, ExecutableDocument, Field, OperationDefinition, OperationType, Selection,
        SelectionSet,
    },
};

use super::{
    ASSUMED_LIST_LENGTH, MAX_ALIASES, MAX_COST, MAX_DEPTH, MAX_DIRECTIVES, MAX_FIELDS,
    MAX_INTROSPECTION_DEPTH, MAX_OPERATIONS, MAX_ROOT_MUTATIONS, MAX_SELECTION_LEVELS,
    shape::{Many, Shape},
};
use crate::graphql::{error::ApiError, page};

/// What is known of a query that is within the limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Query, mutation or subscription.
    pub kind: OperationType,
    /// The root field, for metrics: only names that the schema has.
    pub label: String,
}

/// Checks `document`, of which the operation `name` would run.
pub fn check(
    document: &ExecutableDocument,
    name: Option<&str>,
    variables: &Variables,
    shape: &Shape,
    introspection: bool,
) -> Result<Checked, ApiError> {
    if document.operations.iter().len() > MAX_OPERATIONS {
        return Err(ApiError::too_complex(format!(
            "The document has more than {MAX_OPERATIONS} operations."
        )));
    }
    let selected = &select(&document.operations, name)?.node;
    let mut total = Figures::default();
    let mut unused: Vec<&str> = document.fragments.keys().map(|name| name.as_str()).collect();
    for (_, operation) in document.operations.iter() {
        let operation = &operation.node;
        let mut walk =
            Walk { document, operation, variables, shape, introspection, fragments: HashMap::new() };
        let figures = walk.operation()?;
        if std::ptr::eq(operation, selected) {
            figures.check_selected(selected.ty)?;
        }
        total = total.beside(figures);
        unused.retain(|name| !walk.fragments.contains_key(name));
        // Nobody spreads these, and validation will say so, but it walks them first.
        for name in unused.clone() {
            total = total.beside(walk.fragment(name, 0)?);
        }
        unused.clear();
    }
    total.check_document()?;
    check_subscription(selected)?;
    Ok(Checked { kind: selected.ty, label: label(selected, shape) })
}

fn select<'a>(
    operations: &'a DocumentOperations,
    name: Option<&str>,
) -> Result<&'a Positioned<OperationDefinition>, ApiError> {
    let mut all = operations.iter();
    let found = match name {
        Some(name) => all.find(|(own, _)| own.is_some_and(|own| own.as_str() == name)),
        None if all.len() == 1 => all.next(),
        None => None,
    };
    found.map(|(_, operation)| operation).ok_or_else(|| {
        ApiError::bad_user_input(["operationName"], "operationName must name one operation of the document.")
    })
}

/// async-graphql runs only the plain fields at the root of a subscription, and each of them beside the others.
fn check_subscription(operation: &OperationDefinition) -> Result<(), ApiError> {
    if operation.ty != OperationType::Subscription {
        return Ok(());
    }
    match operation.selection_set.node.items.as_slice() {
        [only] => match &only.node {
            Selection::Field(field) if !field.node.name.node.starts_with("__") => Ok(()),
            _ => Err(ApiError::bad_request("A subscription selects a field of its root, not a fragment.")),
        },
        _ => Err(ApiError::bad_request("A subscription selects exactly one field.")),
    }
}

fn label(operation: &OperationDefinition, shape: &Shape) -> String {
    let [only] = operation.selection_set.node.items.as_slice() else { return "several".to_owned() };
    let Selection::Field(field) = &only.node else { return "several".to_owned() };
    let name = field.node.name.node.as_str();
    let known = shape.field(Some(root(operation.ty)), name).is_some();
    if known { name.to_owned() } else { "other".to_owned() }
}

fn root(kind: OperationType) -> &'static str {
    match kind {
        OperationType::Query => "Query",
        OperationType::Mutation => "Mutation",
        OperationType::Subscription => "Subscription",
    }
}

/// What a selection set amounts to, with everything in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Figures {
    /// Fields of this selection set alone.
    width: u64,
    fields: u64,
    aliases: u64,
    directives: u64,
    depth: u64,
    levels: u64,
    cost: u64,
}

impl Figures {
    fn directives(count: usize) -> Self {
        Self { directives: u64::try_from(count).unwrap_or(u64::MAX), ..Self::default() }
    }

    fn beside(self, other: Self) -> Self {
        Self {
            width: self.width.saturating_add(other.width),
            fields: self.fields.saturating_add(other.fields),
            aliases: self.aliases.saturating_add(other.aliases),
            directives: self.directives.saturating_add(other.directives),
            depth: self.depth.max(other.depth),
            levels: self.levels.max(other.levels),
            cost: self.cost.saturating_add(other.cost),
        }
    }

    fn check_document(&self) -> Result<(), ApiError> {
        bound(self.fields, MAX_FIELDS, "fields")?;
        bound(self.aliases, MAX_ALIASES, "aliases")?;
        bound(self.directives, MAX_DIRECTIVES, "directives")?;
        bound(self.depth, MAX_DEPTH, "levels of fields")
    }

    fn check_selected(&self, kind: OperationType) -> Result<(), ApiError> {
        if kind == OperationType::Mutation {
            bound(self.width, MAX_ROOT_MUTATIONS, "mutations")?;
        }
        bound(self.cost, MAX_COST, "values")
    }
}

fn bound(value: u64, limit: u64, what: &str) -> Result<(), ApiError> {
    if value <= limit {
        return Ok(());
    }
    Err(ApiError::too_complex(format!("The query asks for more than {limit} {what}.")))
}

struct Walk<'a> {
    document: &'a ExecutableDocument,
    operation: &'a OperationDefinition,
    variables: &'a Variables,
    shape: &'a Shape,
    introspection: bool,
    /// None while a fragment is being measured: meeting it again then is a cycle.
    fragments: HashMap<&'a str, Option<Figures>>,
}

impl<'a> Walk<'a> {
    fn operation(&mut self) -> Result<Figures, ApiError> {
        let operation = self.operation;
        let on_variables: usize =
            operation.variable_definitions.iter().map(|variable| variable.node.directives.len()).sum();
        let own = Figures::directives(operation.directives.len() + on_variables);
        Ok(own.beside(self.selections(&operation.selection_set.node, Some(root(operation.ty)), 0)?))
    }

    fn selections(
        &mut self,
        set: &'a SelectionSet,
        parent: Option<&'a str>,
        level: u64,
    ) -> Result<Figures, ApiError> {
        bound(level, MAX_SELECTION_LEVELS, "levels of selections")?;
        let mut figures = Figures::default();
        for selection in &set.items {
            let one = match &selection.node {
                Selection::Field(field) => self.field(&field.node, parent, level)?,
                Selection::FragmentSpread(spread) => {
                    let own = Figures::directives(spread.node.directives.len());
                    own.beside(self.fragment(spread.node.fragment_name.node.as_str(), level)?)
                }
                Selection::InlineFragment(inline) => {
                    let condition = inline.node.type_condition.as_ref();
                    let parent = condition.map_or(parent, |condition| Some(condition.node.on.node.as_str()));
                    let own = Figures::directives(inline.node.directives.len());
                    own.beside(self.selections(&inline.node.selection_set.node, parent, level + 1)?)
                }
            };
            figures = figures.beside(one);
        }
        figures.levels = figures.levels.saturating_add(1);
        Ok(figures)
    }

    fn fragment(&mut self, name: &'a str, level: u64) -> Result<Figures, ApiError> {
        let Some(fragment) = self.document.fragments.get(name) else { return Ok(Figures::default()) };
        let figures = match self.fragments.get(name) {
            Some(Some(figures)) => *figures,
            Some(None) => return Err(ApiError::too_complex("A fragment spreads itself.")),
            None => {
                self.fragments.insert(name, None);
                let fragment = &fragment.node;
                let parent = Some(fragment.type_condition.node.on.node.as_str());
                let inner = self.selections(&fragment.selection_set.node, parent, level + 1)?;
                let figures = Figures::directives(fragment.directives.len()).beside(inner);
                self.fragments.insert(name, Some(figures));
                figures
            }
        };
        bound(level.saturating_add(figures.levels), MAX_SELECTION_LEVELS, "levels of selections")?;
        Ok(figures)
    }

    fn field(&mut self, field: &'a Field, parent: Option<&'a str>, level: u64) -> Result<Figures, ApiError> {
        let name = field.name.node.as_str();
        let introspects = matches!(name, "__schema" | "__type");
        if introspects && !self.introspection {
            return Err(ApiError::bad_request("Introspection is off."));
        }
        let shape = self.shape.field(parent, name);
        let target = shape.map(|shape| shape.target.as_str());
        let inner = self.selections(&field.selection_set.node, target, level + 1)?;
        let times = match shape.map(|shape| shape.many) {
            Some(Many::Page) => self.page_size(field)?,
            Some(Many::List) => ASSUMED_LIST_LENGTH,
            Some(Many::One) | None => 1,
        };
        let own = Figures::directives(field.directives.len());
        let mut figures = own.beside(inner);
        if introspects {
            bound(inner.depth, MAX_INTROSPECTION_DEPTH, "levels of fields")?;
            figures.depth = 0;
        }
        figures.width = 1;
        figures.fields = figures.fields.saturating_add(1);
        figures.aliases = figures.aliases.saturating_add(u64::from(field.alias.is_some()));
        figures.depth = figures.depth.saturating_add(1);
        figures.cost = inner.cost.saturating_mul(times).saturating_add(1);
        Ok(figures)
    }

    /// The page that the field asks for, as far as it would be granted; nonsense is refused later, by name. What is
    /// no Int is refused here, because the library's own refusal does not name the argument.
    fn page_size(&self, field: &Field) -> Result<u64, ApiError> {
        let mut largest = None;
        for name in ["first", "last"] {
            let Some(asked) = self.number(field, name) else { continue };
            if i32::try_from(asked).is_err() {
                return Err(page::out_of_range(name));
            }
            largest = largest.max(Some(u64::try_from(asked).unwrap_or(0).min(page::MAX_PAGE)));
        }
        Ok(largest.unwrap_or(page::DEFAULT_PAGE))
    }

    /// The argument's number, read through its variable and that one's default; beyond 64 bits it is large.
    fn number(&self, field: &Field, argument: &str) -> Option<i64> {
        let written = field.get_argument(argument)?.node.clone();
        let value = written.into_const_with(|name| self.variable(&name).ok_or(())).ok()?;
        match value {
            Value::Number(number) => number.as_i64().or(Some(i64::MAX)),
            _ => None,
        }
    }

    fn variable(&self, name: &Name) -> Option<Value> {
        let default = || {
            let definitions = &self.operation.variable_definitions;
            let own = definitions.iter().find(|definition| definition.node.name.node == *name)?;
            own.node.default_value.as_ref().map(|value| value.node.clone())
        };
        self.variables.get(name).cloned().or_else(default)
    }
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
