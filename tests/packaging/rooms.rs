//! How the files of each crate import each other: rooms (the top folders of `src`) import downwards, and inside a room
//! no circle is long. An import through a re-export counts as one of the file that defines the name.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    path::Path,
};

use crate::rows::sources;

/// The longest circle of files that import each other.
const LONGEST: usize = 3;

/// The segments of a path.
type Names = Vec<String>;

/// What a file says of other files; without its tests.
#[derive(Default)]
struct File {
    /// Each with the name that it has here, and whether others may have it from here.
    uses: Vec<(Names, String, bool)>,
    /// What it defines.
    items: HashSet<String>,
    paths: Vec<Names>,
    words: HashSet<String>,
}

/// The files of a crate, by the paths of their modules.
struct Crate(BTreeMap<Names, File>);

/// Words, `::`, and single characters; without comments, texts and lifetimes.
fn tokens(text: &str) -> Names {
    let (mut found, mut rest) = (Names::new(), text);
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let raw = rest.trim_start_matches('b').strip_prefix('r').map(|raw| raw.trim_start_matches('#'));
        let end = if let Some(raw) = raw.filter(|raw| raw.starts_with('"')) {
            let begun = rest.len() - raw.len() + 1;
            let hashes = rest[..begun].matches('#').count();
            begun + rest[begun..].find(&format!("\"{}", "#".repeat(hashes))).unwrap() + 1 + hashes
        } else if word > 0 {
            found.push(rest[..word].to_owned());
            word
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if first == '"' || first == '\'' && (rest[1..].starts_with('\\') || rest.chars().nth(2) == Some('\'')) {
            let mut escaped = false;
            let closes = |c: char| c == first && !escaped || (escaped = c == '\\' && !escaped, false).1;
            1 + rest[1..].find(closes).unwrap() + 1
        } else if rest.starts_with("::") {
            found.push("::".to_owned());
            2
        } else {
            if !first.is_whitespace() {
                found.push(first.to_string());
            }
            first.len_utf8()
        };
        rest = &rest[end..];
    }
    found
}

/// The place after what begins here and ends with one of these, or where the block around it ends.
fn after(tokens: &[String], from: usize, ends: &[&str]) -> usize {
    let mut depth = 0;
    for (place, token) in tokens.iter().enumerate().skip(from) {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return place;
        }
        if depth == 0 && ends.contains(&token.as_str()) {
            return place + 1;
        }
    }
    tokens.len()
}

/// The paths of a `use`, each with its name.
fn expanded(tree: &[String], before: &[String], found: &mut Vec<(Names, String)>) {
    let mut from = 0;
    while from < tree.len() {
        let end = after(tree, from, &[","]);
        let one: Vec<&String> = tree[from..end].iter().filter(|token| *token != "," && *token != "::").collect();
        let open = tree[from..end].iter().position(|token| token == "{");
        let head = one.iter().take_while(|token| **token != "{" && **token != "as").copied().cloned();
        let mut path: Names = before.iter().cloned().chain(head).collect();
        if let Some(open) = open {
            let close = from + tree[from..end].iter().rposition(|token| token == "}").unwrap();
            expanded(&tree[from + open + 1..close], &path, found);
        } else if !one.is_empty() {
            if path.last().is_some_and(|last| last == "self") && path.len() > 1 {
                path.pop();
            }
            let name = if one.iter().any(|token| *token == "as") { one[one.len() - 1] } else { path.last().unwrap() };
            found.push((path.clone(), name.clone()));
        }
        from = end;
    }
}

impl File {
    fn of(text: &str) -> Self {
        let all = tokens(text);
        let (mut file, mut place, mut depth, mut public) = (File::default(), 0, 0, false);
        while let Some(token) = all.get(place) {
            let next = |by: usize| all.get(place + by).map_or("", String::as_str);
            match token.as_str() {
                "#" if next(2) == "cfg" && (next(4) == "test" || next(6) == "test") => {
                    let mut item = after(&all, place, &["]"]);
                    while all[item] == "#" {
                        item = after(&all, item, &["]"]);
                    }
                    place = after(&all, item, &[";", "}", ","]);
                    continue;
                }
                "pub" => {
                    public = true;
                    place = if next(1) == "(" { after(&all, place + 1, &[")"]) } else { place + 1 };
                    continue;
                }
                "use" if next(1) != "<" => {
                    let end = after(&all, place, &[";"]);
                    let mut found = Vec::new();
                    expanded(&all[place + 1..end - 1], &[], &mut found);
                    file.uses.extend(found.into_iter().map(|(path, name)| (path, name, public)));
                    (place, public) = (end, false);
                    continue;
                }
                "mod" if next(2) == ";" => {
                    place += 3;
                    continue;
                }
                "{" => depth += 1,
                "}" => depth -= 1,
                "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" if depth == 0 => {
                    file.items.insert(next(1).to_owned());
                }
                "macro_rules" => drop(file.items.insert(next(2).to_owned())),
                _ => {}
            }
            public = false;
            let is_word = |by: usize| next(by).starts_with(|c: char| c.is_alphabetic() || c == '_');
            if is_word(0) {
                let more = (1..).step_by(2).take_while(|by| next(*by) == "::" && is_word(by + 1));
                let path: Names =
                    std::iter::once(token.clone()).chain(more.map(|by| next(by + 1).to_owned())).collect();
                place += 2 * (path.len() - 1);
                file.words.insert(path[0].clone());
                file.paths.push(path);
            }
            place += 1;
        }
        file
    }
}

impl Crate {
    /// The crate in this folder, of files with their texts.
    fn of(folder: &str, files: &[(String, String)]) -> Self {
        let is_test = |name: &str| {
            ["tests", "testing", "fixture", "fuzzing"].contains(&name) || name.ends_with("_tests") || name == "main"
        };
        let of = |(path, text): &(String, String)| {
            let module = path.strip_prefix(folder)?.strip_prefix('/')?.strip_suffix(".rs")?;
            let mut module: Names = module.split('/').map(str::to_owned).collect();
            if module.iter().any(|name| is_test(name)) {
                return None;
            }
            module.pop_if(|last| last == "mod" || last == "lib");
            Some((module, File::of(text)))
        };
        Crate(files.iter().filter_map(of).collect())
    }

    /// The module that defines what a path in a module leads to, and whether it leads to the module itself; `None` for
    /// other crates and what is no item.
    fn defines(&self, module: &Names, path: &[String], seen: &mut HashSet<(Names, String)>) -> Option<(Names, bool)> {
        let mut rest = path;
        let mut at = module.clone();
        match path[0].as_str() {
            "crate" => (at, rest) = (Names::new(), &path[1..]),
            "self" => rest = &path[1..],
            "super" => {
                while rest.first().is_some_and(|first| first == "super") {
                    at.pop();
                    rest = &rest[1..];
                }
            }
            _ if self.0.contains_key(&[&at[..], &path[..1]].concat()) => {}
            name if self.0[module].items.contains(name) => return None,
            _ => return self.imported(module, path, seen),
        }
        while let Some(name) = rest.first() {
            let below = [&at[..], std::slice::from_ref(name)].concat();
            if !self.0.contains_key(&below) {
                let defined = self.0.get(&at)?.items.contains(name) || name == "*";
                let imported = if defined { None } else { self.imported(&at, rest, seen) };
                return Some(imported.unwrap_or((at, false)));
            }
            (at, rest) = (below, &rest[1..]);
        }
        Some((at, true))
    }

    /// The same for a path that begins with an imported name.
    fn imported(&self, at: &Names, path: &[String], seen: &mut HashSet<(Names, String)>) -> Option<(Names, bool)> {
        if !seen.insert((at.clone(), path[0].clone())) {
            return None;
        }
        let uses = &self.0.get(at)?.uses;
        let (whole, _, _) = uses.iter().find(|(_, name, _)| *name == path[0])?;
        self.defines(at, &[&whole[..], &path[1..]].concat(), seen)
    }

    /// Each file with those that it imports.
    fn imports(&self) -> BTreeMap<&Names, BTreeSet<Names>> {
        let of = |(module, file): (&'_ Names, &File)| {
            let used = |(_, name, public): &&(Names, String, bool)| !public || file.words.contains(name);
            let uses = file.uses.iter().filter(used).map(|(path, _, _)| path);
            let longer = file.paths.iter().filter(|path| path.len() > 1);
            let found = uses.chain(longer).filter_map(|path| self.defines(module, path, &mut HashSet::new()));
            found.filter(|(other, is_module)| !is_module && other != module).map(|(other, _)| other).collect()
        };
        self.0.iter().map(|entry| (entry.0, of(entry))).collect()
    }
}

/// Groups of names that import each other, directly or through others of these.
fn circles<N: Ord + Clone>(imports: &BTreeMap<N, BTreeSet<N>>) -> BTreeSet<BTreeSet<N>> {
    let reach = |from: &N| {
        let (mut reached, mut open) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(next) = open.pop() {
            open.extend(
                imports.get(&next).into_iter().flatten().filter(|other| reached.insert((*other).clone())).cloned(),
            );
        }
        reached
    };
    let reached: BTreeMap<&N, BTreeSet<N>> = imports.keys().map(|name| (name, reach(name))).collect();
    let circle = |name: &N| {
        let of_it = reached[name].iter().filter(|other| reached.get(other).is_some_and(|it| it.contains(name)));
        of_it.cloned().collect::<BTreeSet<N>>()
    };
    imports.keys().map(circle).filter(|circle| circle.len() > 1).collect()
}

/// The room of a module; empty for a file beside the rooms.
fn room(module: &[String]) -> String {
    module.first().cloned().unwrap_or_default()
}

/// The longest circle of files in each room that has one.
fn longest(imports: &BTreeMap<&Names, BTreeSet<Names>>) -> BTreeMap<String, Vec<String>> {
    let mut rooms: BTreeMap<String, BTreeMap<Names, BTreeSet<Names>>> = BTreeMap::new();
    for (module, others) in imports {
        let inside = others.iter().filter(|other| room(other) == room(module)).cloned().collect();
        rooms.entry(room(module)).or_default().insert((*module).clone(), inside);
    }
    let of = |(room, imports): (String, BTreeMap<Names, BTreeSet<Names>>)| {
        let longest = circles(&imports).into_iter().max_by_key(BTreeSet::len)?;
        Some((room, longest.iter().map(|module| module.join("/")).collect()))
    };
    rooms.into_iter().filter_map(of).collect()
}

fn crates() -> [(&'static str, Crate); 3] {
    let files = sources(Path::new(env!("CARGO_MANIFEST_DIR")));
    ["src", "crates/cluster/src", "crates/core/src"].map(|folder| (folder, Crate::of(folder, &files)))
}

#[test]
fn no_circle_inside_a_room_is_long() {
    for (folder, all) in crates() {
        assert!(all.0.len() > 50, "{folder}: {} files were read", all.0.len());
        for (room, circle) in longest(&all.imports()) {
            assert!(circle.len() <= LONGEST, "{folder}/{room}: {} files import each other: {circle:?}", circle.len());
        }
    }
}

#[test]
fn rooms_import_downwards() {
    for (folder, all) in crates() {
        let mut rooms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (module, others) in all.imports() {
            let others = others.iter().map(|other| room(other)).filter(|other| *other != room(module));
            rooms.entry(room(module)).or_default().extend(others);
        }
        assert_eq!(circles(&rooms), BTreeSet::new(), "{folder}: these rooms import each other");
    }
}

/// Through re-exports, names of modules and whole paths; not through tests, comments and what others have from here.
#[test]
fn a_circle_is_found_however_it_imports() {
    let files = [
        ("src/lib.rs", "mod a;"),
        ("src/a/mod.rs", "mod b; mod c; mod d; mod e;\npub use b::B;\npub(crate) use self::{c::{C as See}, d::*};"),
        ("src/a/b.rs", "use super::See;\npub struct B(See);"),
        ("src/a/c.rs", "use super::d;\npub struct C(d::D);"),
        ("src/a/d.rs", "// use super::e::E;\npub struct D(char);\nfn e() -> crate::a::e::E { D('\"'); \"{\"; e::E }"),
        ("src/a/e.rs", "use super::B;\npub struct E(B);\n#[cfg(test)]\nmod tests {\n    use super::super::f::F;\n}"),
        ("src/a/f.rs", "use super::e::E;\npub struct F(E);"),
    ];
    let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let circle = longest(&Crate::of("src", &files).imports()).remove("a").unwrap();
    assert_eq!(circle, ["a/b", "a/c", "a/d", "a/e"]);
}
