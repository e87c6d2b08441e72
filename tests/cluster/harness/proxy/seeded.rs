//! Faults by chance: a seed, and what is asked how often, decide which request meets which fault.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::{Arc, Mutex},
    time::Duration,
};

use http::{HeaderValue, header::CONTENT_TYPE};
use serde_json::json;

use super::{Fault, Request, Spoilt};

const HTML: &str = "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>\n";
const OF_HTML: [(&str, &str); 1] = [("content-type", "text/html")];
/// What comes in between where nothing should.
const GARBAGE: [&[u8]; 4] = [
    b"\n{}\n",
    b"\nnot an event\n",
    b"\n{\"type\":\"ADDED\",\"object\":{}}\n",
    b"\x00\xff\n{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"metadata\":{\"resourceVersion\":\"1\"}}}\n",
];
/// Documents that nobody asked for.
const OTHERS: [&str; 3] = ["/version", "/api/v1", "/api/v1/namespaces/default"];
/// The pauses of a body that drips.
const SLOW: Duration = Duration::from_millis(20);

/// Which requests meet faults, and how many of them: one in that many.
#[derive(Clone, Copy, Debug)]
enum Where {
    Anything(usize),
    Writes(usize),
    Watches(usize),
    Lists(usize),
    LookUps(usize),
    /// Lists that are as they were once.
    Stale(usize),
}

const WHERE: [Where; 9] = [
    Where::Anything(40),
    Where::Anything(12),
    Where::Writes(2),
    Where::Writes(3),
    Where::Watches(2),
    Where::Lists(8),
    Where::Lists(30),
    Where::LookUps(3),
    Where::Stale(2),
];

/// What a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Sort {
    Write,
    Watch,
    List,
    LookUp,
}

/// The faults of one seed, for the commands in one namespace.
pub struct Faults {
    seed: u64,
    namespace: String,
    /// The resourceVersions at which stale lists are read.
    past: Vec<String>,
    asked: Mutex<HashMap<(String, String), usize>>,
    struck: Mutex<Vec<String>>,
}

impl Faults {
    /// The faults of a seed. The name of the namespace doesn't matter to them. A stale list is read at one of these
    /// resourceVersions.
    pub fn of(seed: u64, namespace: &str, past: Vec<String>) -> Arc<Self> {
        let namespace = namespace.to_owned();
        Arc::new(Self { seed, namespace, past, asked: Mutex::default(), struck: Mutex::default() })
    }

    /// Whether lists of this seed are stale.
    pub fn are_stale(&self) -> bool {
        matches!(self.place(), Where::Stale(_))
    }

    /// Which fault a request meets.
    pub fn strike(&self, request: &Request) -> Option<Fault> {
        let own = |part| if part == self.namespace { "NAMESPACE" } else { part };
        let path = request.path.split('/').map(own).collect::<Vec<_>>().join("/");
        let sort = sort(request);
        let asked = {
            let mut asked = self.asked.lock().unwrap();
            let asked = asked.entry((format!("{} {sort:?}", request.method), path.clone())).or_default();
            *asked += 1;
            *asked
        };
        let mut chance = Chance::of((self.seed, &request.method, sort, &path, asked));
        let pages = Chance::of(self.seed).below(2) == 0 && sort == Sort::List;
        let fault = if self.is_due(sort, &mut chance) {
            Some(if self.are_stale() {
                Fault::AsOf(self.past[chance.below(self.past.len())].clone())
            } else {
                fault(sort, request, &mut chance)
            })
        } else {
            pages.then_some(Fault::Pages(2))
        }?;
        if !matches!(fault, Fault::Pages(_)) {
            self.struck
                .lock()
                .unwrap()
                .push(format!("{} {}?{}: {fault:?}", request.method, request.path, request.query));
        }
        Some(fault)
    }

    /// The faults so far, with the requests that met them.
    pub fn struck(&self) -> Vec<String> {
        self.struck.lock().unwrap().clone()
    }

    fn place(&self) -> Where {
        WHERE[Chance::of((self.seed, "where")).below(WHERE.len())]
    }

    fn is_due(&self, sort: Sort, chance: &mut Chance) -> bool {
        let one_in = match self.place() {
            Where::Anything(one_in) => Some(one_in),
            Where::Writes(one_in) => (sort == Sort::Write).then_some(one_in),
            Where::Watches(one_in) => (sort == Sort::Watch).then_some(one_in),
            Where::Lists(one_in) | Where::Stale(one_in) => (sort == Sort::List).then_some(one_in),
            Where::LookUps(one_in) => (sort == Sort::LookUp).then_some(one_in),
        };
        one_in.is_some_and(|one_in| chance.below(one_in) == 0)
    }
}

fn sort(request: &Request) -> Sort {
    match request.method.as_str() {
        "GET" if request.query.contains("watch=") => Sort::Watch,
        "GET" if request.query.contains("limit=") => Sort::List,
        "GET" => Sort::LookUp,
        _ => Sort::Write,
    }
}

/// A fault that such a request may meet. None of them says that an object doesn't exist: that would be a lie which
/// nobody can see through.
fn fault(sort: Sort, request: &Request, chance: &mut Chance) -> Fault {
    let most = [40, 2000][chance.below(2)];
    let at = chance.below(most);
    let status = |code: u16, reason: &str, retry_after| {
        let Fault::Answer { status, body, .. } = Fault::status(code, reason) else { return Fault::Reset };
        Fault::Answer { status, headers: vec![("retry-after", retry_after)], body }
    };
    let raw = |status: u16, headers: &[_], body| Fault::Raw { status, headers: headers.to_vec(), body };
    match chance.below(if sort == Sort::Watch { 22 } else { 18 }) {
        0 => status(429, "TooManyRequests", ["0", "1", "60"][chance.below(3)]),
        1 => status(503, "ServiceUnavailable", "1"),
        2 => raw([500, 502, 504][chance.below(3)], &OF_HTML, HTML),
        3 => Fault::Reset,
        4 | 5 => Fault::Lost,
        6 => Fault::CutAfter(at as u64),
        7 => Fault::Spoilt(Spoilt::Truncated(at)),
        8 => Fault::Spoilt(Spoilt::Stalled(at)),
        9 => Fault::Spoilt(Spoilt::Dripping(1 + chance.below(200), SLOW)),
        10 if request.query.contains("continue=") || sort == Sort::Watch => Fault::status(410, "Expired"),
        10 | 11 => raw(200, &[], ["", "{}", "null", "[]", "\"\""][chance.below(5)]),
        12 => raw(200, &OF_HTML, HTML),
        13 => {
            let types = ["text/html", "application/json", "application/vnd.kubernetes.protobuf"];
            Fault::Headed(CONTENT_TYPE, HeaderValue::from_static(types[chance.below(3)]))
        }
        14 if sort == Sort::Write => {
            let body = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"});
            Fault::Answer { status: 200, headers: Vec::new(), body }
        }
        14 => Fault::Elsewhere(elsewhere(sort, request, chance)),
        15 => {
            let to = ["/version", "/api/v1/namespaces", "http://127.0.0.1:9/"][chance.below(3)];
            raw([301, 302, 307, 308][chance.below(4)], &[("location", to)], "")
        }
        16 => raw(404, &[("content-type", "text/plain")], "404 page not found\n"),
        17 => Fault::Hang,
        18 | 19 => Fault::Spoilt(Spoilt::Repeated),
        _ => Fault::Spoilt(Spoilt::Garbled(at, GARBAGE[chance.below(GARBAGE.len())])),
    }
}

/// What is answered in place of what was asked for. In place of one object, often another one, or that another one
/// doesn't exist.
fn elsewhere(sort: Sort, request: &Request, chance: &mut Chance) -> String {
    match others(&request.path) {
        Some(others) if sort == Sort::LookUp && chance.below(4) > 0 => others[chance.below(others.len())].clone(),
        _ => OTHERS[chance.below(OTHERS.len())].to_owned(),
    }
}

/// What may be asked in place of one object in a namespace: an object that exists there, one of another name, and one
/// of another kind. No test creates the last two.
pub fn others(path: &str) -> Option<[String; 3]> {
    let (root, rest) = path.split_once("/namespaces/")?;
    let [namespace, plural, name] = rest.split('/').collect::<Vec<_>>()[..] else { return None };
    let kind = if plural == "configmaps" { "secrets" } else { "configmaps" };
    Some([
        format!("/api/v1/namespaces/{namespace}/configmaps/stays"),
        format!("{root}/namespaces/{namespace}/{plural}/nobody"),
        format!("/api/v1/namespaces/{namespace}/{kind}/{name}"),
    ])
}

/// A few small numbers that only depend on what they are made of.
struct Chance(u64);

impl Chance {
    fn of(what: impl std::hash::Hash) -> Self {
        let mut hasher = DefaultHasher::new();
        what.hash(&mut hasher);
        Chance(hasher.finish())
    }

    fn below(&mut self, bound: usize) -> usize {
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        self.0 = hasher.finish();
        (self.0 >> 11) as usize % bound
    }
}
