use diesel::result::Error as DieselError;

/// The name of the constraint that refused a statement: violations are mapped to business errors by name.
pub fn violated_constraint(error: &DieselError) -> Option<&str> {
    match error {
        DieselError::DatabaseError(_, info) => info.constraint_name(),
        _ => None,
    }
}
