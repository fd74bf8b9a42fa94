use async_graphql::parser::parse_query;

use super::*;
use crate::graphql::error::Code;

const SDL: &str = "
    type Query { a: A as(first: Int, last: Int): AConnection! }
    type Mutation { set: A }
    type Subscription { changed: A }
    type AConnection { nodes: [A!]! }
    type A { id: ID! a: A list: [A!]! as(first: Int, last: Int): AConnection! }";

fn run(query: &str, variables: serde_json::Value, introspection: bool) -> Result<Checked, ApiError> {
    let document = parse_query(query).unwrap();
    let variables = Variables::from_json(variables);
    check(&document, None, &variables, &Shape::from_sdl(SDL), introspection)
}

fn code(query: &str) -> Option<Code> {
    run(query, serde_json::json!({}), false).err().map(|error| error.code())
}

fn complexity(query: &str) -> Option<Code> {
    assert!(query.len() < super::super::MAX_QUERY_BYTES);
    code(query)
}

#[test]
fn aliases_are_counted_wherever_they_hide() {
    let aliased = |count: usize| (0..count).map(|n| format!("a{n}: id ")).collect::<String>();
    assert_eq!(code(&format!("{{ a {{ {} }} }}", aliased(30))), None);
    assert_eq!(code(&format!("{{ a {{ {} }} }}", aliased(31))), Some(Code::QueryTooComplex));
    let in_fragment = format!("{{ a {{ ...f }} }} fragment f on A {{ {} }}", aliased(1_000));
    assert_eq!(code(&in_fragment), Some(Code::QueryTooComplex));
    let multiplied = format!("{{ a {{ ...f a {{ ...f }} }} }} fragment f on A {{ {} }}", aliased(16));
    assert_eq!(code(&multiplied), Some(Code::QueryTooComplex));
    let unused = format!("{{ a {{ id }} }} fragment f on A {{ {} }}", aliased(31));
    assert_eq!(code(&unused), Some(Code::QueryTooComplex));
    let elsewhere = format!("query one {{ a {{ id }} }} query two {{ a {{ {} }} }}", aliased(31));
    let document = parse_query(elsewhere).unwrap();
    let refused = check(&document, Some("one"), &Variables::default(), &Shape::from_sdl(SDL), false);
    assert_eq!(refused.map_err(|error| error.code()), Err(Code::QueryTooComplex));
}

#[test]
fn directives_are_counted_everywhere_too() {
    assert_eq!(code(&format!("{{ a {{ id {} }} }}", "@x ".repeat(51))), Some(Code::QueryTooComplex));
    assert_eq!(code(&format!("query {} {{ a {{ id }} }}", "@x ".repeat(51))), Some(Code::QueryTooComplex));
    assert_eq!(
        code(&format!("query($v: Int {}) {{ a {{ id }} }}", "@x ".repeat(51))),
        Some(Code::QueryTooComplex)
    );
    assert_eq!(
        code(&format!("{{ a {{ ... {} {{ id }} }} }}", "@x ".repeat(51))),
        Some(Code::QueryTooComplex)
    );
}

#[test]
fn a_fragment_bomb_is_measured_without_being_expanded() {
    let mut query = "{ a { ...f0 } }".to_owned();
    for n in 0..35 {
        let next = format!("...f{} ", n + 1).repeat(20);
        query.push_str(&format!(" fragment f{n} on A {{ {next} }}"));
    }
    query.push_str(" fragment f35 on A { id }");
    // 20^35 fields: only saturating, memoised figures come to an end here.
    assert_eq!(complexity(&query), Some(Code::QueryTooComplex));
}

#[test]
fn a_long_chain_of_fragments_is_refused_however_it_is_entered() {
    for reversed in [false, true] {
        let mut query = "{ a { ...f0 } }".to_owned();
        for n in 0..1_000 {
            let (own, next) = if reversed { (999 - n, 1_000 - n) } else { (n, n + 1) };
            query.push_str(&format!(" fragment f{own} on A {{ ...f{next} }}"));
        }
        query.push_str(" fragment f1000 on A { id }");
        assert_eq!(complexity(&query), Some(Code::QueryTooComplex));
    }
}

#[test]
fn fragment_cycles_are_refused() {
    assert_eq!(
        code("{ a { ...f } } fragment f on A { ...g } fragment g on A { ...f }"),
        Some(Code::QueryTooComplex)
    );
    assert_eq!(code("{ a { id } } fragment f on A { a { ...f } }"), Some(Code::QueryTooComplex));
}

#[test]
fn depth_counts_fields_and_leaves_room_for_introspection() {
    let nested = |levels: usize| format!("{}id{}", "{ a ".repeat(levels - 1) + "{ ", " }".repeat(levels));
    assert_eq!(code(&nested(12)), None);
    assert_eq!(code(&nested(13)), Some(Code::QueryTooComplex));
    let types = "{ __schema { types { fields { type { ofType { ofType { ofType { ofType { ofType { ofType \
                 { ofType { ofType { ofType { name } } } } } } } } } } } } } }";
    assert!(run(types, serde_json::json!({}), true).is_ok());
    assert_eq!(code(types), Some(Code::BadUserInput));
    assert_eq!(code("{ a { id } __type(name: \"A\") { name } }"), Some(Code::BadUserInput));
}

#[test]
fn the_cost_is_the_page_times_what_is_in_it() {
    let pages = |first: &str| {
        format!(
            "query($n: Int = 100) {{ as({first}) {{ nodes {{ as({first}) {{ nodes {{ id a {{ id }} }} }} }} }} }}"
        )
    };
    assert_eq!(code(&pages("first: 100")), None);
    let deep = |first: &str| {
        format!(
            "query($n: Int = 100) {{ as({first}) {{ nodes {{ as({first}) {{ nodes {{ as({first}) {{ nodes {{ id }} }} }} }} }} }} }}"
        )
    };
    for heavy in
        ["first: 100", "last: 100", "first: $n", "first: 2147483647", "first: 1, last: 100", "first: $other"]
    {
        assert_eq!(code(&deep(heavy)), Some(Code::QueryTooComplex), "{heavy}");
    }
    for light in ["first: 1", "first: -1", "first: 0"] {
        assert_eq!(code(&deep(light)), None, "{light}");
    }
    for (none, named) in
        [("first: 9999999999", "first"), ("last: -9999999999", "last"), ("first: 1.5", "first")]
    {
        let refused = run(&deep(none), serde_json::json!({}), false).map_err(|error| error.field().to_vec());
        assert_eq!(refused, Err(vec![named.to_owned()]), "{none}");
    }
    let by_variable = deep("first: $n");
    assert!(run(&by_variable, serde_json::json!({ "n": 2 }), false).is_ok());
}

#[test]
fn mutations_in_one_request_are_bounded() {
    let fields = |count: usize| (0..count).map(|n| format!("m{n}: set {{ id }} ")).collect::<String>();
    assert_eq!(code(&format!("mutation {{ {} }}", fields(10))), None);
    assert_eq!(
        code(&format!("mutation {{ ...m }} fragment m on Mutation {{ {} }}", fields(11))),
        Some(Code::QueryTooComplex)
    );
}

#[test]
fn a_subscription_has_one_root_field_and_the_operation_must_be_clear() {
    assert_eq!(code("subscription { changed { id } }"), None);
    for bad in [
        "subscription { changed { id } b: changed { id } }",
        "subscription { ...f } fragment f on Subscription { changed { id } }",
        "subscription { __typename }",
        "query one { a { id } } query two { a { id } }",
    ] {
        assert_eq!(code(bad), Some(Code::BadUserInput), "{bad}");
    }
}

#[test]
fn the_label_is_a_name_of_the_schema_or_nothing_of_the_callers() {
    let label = |query| run(query, serde_json::json!({}), false).unwrap().label;
    assert_eq!(label("{ x: a { id } }"), "a");
    assert_eq!(label("{ whatever }"), "other");
    assert_eq!(label("{ a { id } b: a { id } }"), "several");
}
