use diesel::{
    expression::{AsExpression, Expression},
    pg::Pg,
    query_builder::{AstPass, Query, QueryFragment, QueryId},
    result::QueryResult,
    sql_types::{SingleValue, SqlType, Untyped},
};

/// A hand-written SQL statement with `$1`, `$2`, … placeholders, prepared once per connection.
///
/// Diesel's own UPDATE and `sql_query` are prepared anew on every call, which costs a round trip each time;
/// a statement of this type is cached by its text. Rows are read by column name (`QueryableByName`).
pub struct Statement {
    sql: &'static str,
    binds: Vec<Box<dyn QueryFragment<Pg> + Send>>,
}

impl Statement {
    /// Starts from the whole SQL text.
    pub fn new(sql: &'static str) -> Self {
        Self { sql, binds: Vec::new() }
    }

    /// Binds the next placeholder's value: the first call is `$1`.
    #[must_use]
    pub fn bind<T, V>(mut self, value: V) -> Self
    where
        T: SqlType + SingleValue,
        V: AsExpression<T>,
        V::Expression: Expression<SqlType = T> + QueryFragment<Pg> + Send + 'static,
    {
        self.binds.push(Box::new(value.as_expression()));
        self
    }
}

impl QueryFragment<Pg> for Statement {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        let mut rest = self.sql;
        while let Some((before, after)) = rest.split_once('$') {
            out.push_sql(before);
            let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let (number, tail) = after.split_at(digits);
            let bind = number
                .parse::<usize>()
                .ok()
                .and_then(|number| self.binds.get(number.checked_sub(1)?))
                .ok_or_else(|| {
                    diesel::result::Error::QueryBuilderError(
                        format!("placeholder ${number} has no value").into(),
                    )
                })?;
            bind.walk_ast(out.reborrow())?;
            rest = tail;
        }
        out.push_sql(rest);
        Ok(())
    }
}

impl QueryId for Statement {
    type QueryId = ();
    // The text is the key: two statements with the same text are the same.
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for Statement {
    type SqlType = Untyped;
}
