//! The house's order, checked on the source: imports go down, each library stays in its room, files stay short.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// The rooms from top to bottom; a line's rooms are peers, which do not import each other. An import goes to a line
/// further down.
///
/// Where the architecture leaves two rooms unordered, the code's sound use decides: `telemetry` stands above `config`,
/// whose filter and format it reads, and below everything that records into it; `workers` stands above `telemetry`,
/// because it counts its runs, and below `db`, so that it can never come to know a table.
const ORDER: [&[&str]; 22] = [
    &["main"],
    &["cli"],
    &["app"],
    &["http"],
    &["graphql"],
    &["operations"],
    &["payments", "charges"],
    &["outbox"],
    &["inbox"],
    &["failures"],
    &["audit", "idempotency"],
    &["gateways"],
    &["broker"],
    &["auth"],
    &["jwt"],
    &["simulator"],
    &["httpclient"],
    &["db"],
    &["workers"],
    &["telemetry"],
    &["config"],
    &["types"],
];

/// What a room may import at most, where its place in the order would allow more: the simulated gateways stand for
/// other companies' machines. Their webhooks go out with the plain HTTP client.
const ONLY: [(&str, &[&str]); 1] = [("simulator", &["httpclient", "types"])];

/// Libraries that only these rooms know, so that each can be replaced in one place.
const LIBRARIES: [(&str, &[&str]); 9] = [
    ("axum", &["http", "simulator"]),
    ("async_graphql", &["graphql"]),
    ("lapin", &["broker"]),
    ("jsonwebtoken", &["jwt"]),
    ("reqwest", &["httpclient"]),
    ("clap", &["config", "cli"]),
    ("webpki", &["gateways"]),
    ("x509_parser", &["gateways"]),
    ("rcgen", &["simulator"]),
];

/// At this length a file is split.
const MAX_LINES: usize = 700;

/// A file of `src/`.
struct Source {
    path: String,
    room: String,
    /// Without comments and the insides of literals.
    code: String,
    /// Whether it is compiled for unit tests alone: there a library may play the other side.
    only_tests: bool,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() { files_below(&path, found) } else { found.push(path) }
    }
}

/// Every file below these folders: its path from the root, and its text.
fn texts(folders: &[&str]) -> Vec<(String, String)> {
    let mut paths = Vec::new();
    folders.iter().for_each(|folder| files_below(&root().join(folder), &mut paths));
    paths.sort();
    let text = |path: &PathBuf| {
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        (name, String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned())
    };
    paths.iter().map(text).collect()
}

fn sources() -> Vec<Source> {
    let texts: Vec<_> = texts(&["src"])
        .into_iter()
        .filter(|(path, _)| path.ends_with(".rs"))
        .map(|(path, text)| (path, code_of(&text)))
        .collect();
    let test_modules: Vec<String> = texts.iter().flat_map(|(path, code)| test_modules(path, code)).collect();
    let source = |(path, code): (String, String)| {
        let room = path["src/".len()..].split(['/', '.']).next().unwrap().to_owned();
        let module = path.trim_end_matches(".rs");
        let only_tests =
            test_modules.iter().any(|test| module == *test || module.starts_with(&format!("{test}/")));
        Source { path, room, code, only_tests }
    };
    texts.into_iter().map(source).collect()
}

/// The modules that a file declares for tests alone, as paths without `.rs`.
fn test_modules(path: &str, code: &str) -> Vec<String> {
    let folder = match path {
        "src/lib.rs" | "src/main.rs" => "src",
        _ => path.trim_end_matches(".rs"),
    };
    let declared = code.split("#[cfg(test)]").skip(1).filter_map(|after| {
        let (_visibility, declaration) = after.split_once("mod ")?;
        let name: String = declaration.chars().take_while(|&c| is_name(c)).collect();
        declaration[name.len()..].starts_with(';').then(|| format!("{folder}/{name}"))
    });
    declared.collect()
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Rust source without comments, and with the insides of string and character literals gone.
fn code_of(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let skipped = literal_or_comment(rest, code.chars().next_back());
        if skipped == 0 {
            code.push(c);
            rest = &rest[c.len_utf8()..];
        } else {
            code.push(' ');
            rest = &rest[skipped..];
        }
    }
    code
}

/// The length of the comment or literal that `rest` begins with; 0 if it begins with neither.
fn literal_or_comment(rest: &str, before: Option<char>) -> usize {
    let through =
        |end: &str, from: usize| rest[from..].find(end).map_or(rest.len(), |found| from + found + end.len());
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return through("*/", 2);
    }
    if let Some(raw) = rest.strip_prefix('r').filter(|_| !before.is_some_and(is_name)) {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            return through(&format!("\"{}", "#".repeat(hashes)), hashes + 2);
        }
    }
    if rest.starts_with('"') {
        return quoted(rest, '"');
    }
    let mut chars = rest.chars();
    if chars.next() == Some('\'') {
        let (first, second) = (chars.next(), chars.next());
        // Otherwise a lifetime.
        if first == Some('\\') || second == Some('\'') {
            return quoted(rest, '\'');
        }
    }
    0
}

/// The length of a literal between `quote`s, escapes respected.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

/// What follows each `name` that stands as a word of its own.
fn after_word<'a>(code: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    code.match_indices(name).filter_map(move |(at, _)| {
        let after = &code[at + name.len()..];
        let joined = code[..at].ends_with(is_name) || after.starts_with(is_name);
        (!joined).then_some(after)
    })
}

/// The rooms that a file's `crate::…` paths name, alone or in braces.
fn imports(code: &str) -> BTreeSet<String> {
    let mut rooms = BTreeSet::new();
    for name in ["crate", "paydesk"] {
        for after in after_word(code, name).filter_map(|after| after.strip_prefix("::")) {
            match after.strip_prefix('{') {
                Some(group) => rooms.extend(heads(group)),
                None => rooms.extend(first_name(after)),
            }
        }
    }
    rooms
}

/// The first names of a brace group's items.
fn heads(group: &str) -> Vec<String> {
    let (mut depth, mut item, mut found) = (0, String::new(), Vec::new());
    for c in group.chars() {
        match (c, depth) {
            ('}', 0) => break,
            (',', 0) => found.extend(first_name(&std::mem::take(&mut item))),
            _ => {
                depth += i32::from(c == '{') - i32::from(c == '}');
                item.push(c);
            }
        }
    }
    found.extend(first_name(&item));
    found
}

fn first_name(text: &str) -> Option<String> {
    let name: String = text.trim_start().chars().take_while(|&c| is_name(c)).collect();
    (!name.is_empty()).then_some(name)
}

fn place(room: &str) -> Option<usize> {
    ORDER.iter().position(|rooms| rooms.contains(&room))
}

#[test]
fn every_import_goes_down() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for source in sources().iter().filter(|source| source.path != "src/lib.rs") {
        let from =
            place(&source.room).unwrap_or_else(|| panic!("`{}` has no place in the order", source.room));
        for import in imports(&source.code).iter().filter(|import| **import != source.room) {
            seen += 1;
            // What is no room is a macro that a room exports.
            let Some(to) = place(import) else { continue };
            let narrowed = ONLY.iter().find(|(room, _)| *room == source.room);
            let allowed =
                narrowed.is_none_or(|(_, only)| only.contains(&import.as_str()) || source.only_tests);
            if to <= from || !allowed {
                wrong.push(format!("{} imports crate::{import}", source.path));
            }
        }
    }
    assert!(seen > 100, "only {seen} imports were found: the test does not read the source as it is written");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_room_has_its_place_and_every_place_a_room() {
    let rooms: BTreeSet<_> =
        sources().into_iter().map(|source| source.room).filter(|room| room != "lib").collect();
    let places: BTreeSet<_> = ORDER.iter().copied().flatten().map(|room| (*room).to_owned()).collect();
    assert_eq!(rooms, places);
}

#[test]
fn every_library_stays_in_its_rooms() {
    let mut wrong = Vec::new();
    for source in sources().iter().filter(|source| !source.only_tests) {
        for (library, _) in LIBRARIES.iter().filter(|(_, rooms)| !rooms.contains(&source.room.as_str())) {
            let named = after_word(&source.code, library).any(|after| after.starts_with("::"));
            if named {
                wrong.push(format!("{} uses {library}", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn only_config_reads_the_environment() {
    let reads = |source: &Source| {
        let from_std = |after: &str| after.starts_with("::env::") || after.starts_with("::env;");
        let in_braces = |after: &str| {
            after.strip_prefix("::{").is_some_and(|group| heads(group).iter().any(|head| head == "env"))
        };
        after_word(&source.code, "std").any(|after| from_std(after) || in_braces(after))
    };
    let wrong: Vec<_> = sources()
        .into_iter()
        .filter(|source| source.room != "config" && !source.only_tests && reads(source))
        .map(|source| source.path)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_file_is_longer_than_a_reader_can_bear() {
    let long: Vec<_> = texts(&["src", "tests", "benches"])
        .into_iter()
        .filter(|(path, text)| path.ends_with(".rs") && text.lines().count() > MAX_LINES)
        .map(|(path, _)| path)
        .collect();
    assert!(long.is_empty(), "over {MAX_LINES} lines: {long:#?}");
}

#[test]
fn nothing_is_left_for_later_in_a_comment() {
    let notes = [["TO", "DO"].concat(), ["FIX", "ME"].concat()];
    let left: Vec<_> = texts(&["src", "tests", "benches", "migrations", "dev"])
        .into_iter()
        .filter(|(_, text)| notes.iter().any(|note| after_word(text, note).next().is_some()))
        .map(|(path, _)| path)
        .collect();
    assert!(left.is_empty(), "{left:#?}");
}

#[test]
fn the_source_is_read_as_it_is_written() {
    let source = "// use crate::no::X;\nuse crate::{\n    a::{B, c::D},\n    e, f::G,\n};\nfn h<'x>(_: &'x str) { \
                  crate::i::j(\"crate::no\", 'k', r#\"crate::no \"\" \"#, '\\''); mycrate::no(); }";
    let found: Vec<_> = imports(&code_of(source)).into_iter().collect();
    assert_eq!(found, ["a", "e", "f", "i"]);
}
