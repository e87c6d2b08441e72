//! Evaluates templates as client-go's `util/jsonpath/jsonpath.go` does.

use std::borrow::Cow;

use serde_json::Value;

use super::{
    parse::{Node, PathError, Slice},
    values::{self, Item},
};

/// How many values a template may touch, and how often it may touch each of a large document: ranges that are not ended
/// double the work.
const MOST: usize = 2_000_000;
const MOST_OFTEN: usize = 100;
/// How deep ranges may stand in each other.
const DEEPEST: usize = 64;

type Items<'v> = Vec<Item<'v>>;

pub(super) struct Evaluation<'t, 'v> {
    actions: &'t [Node],
    allow_missing: bool,
    begin_range: usize,
    in_range: usize,
    end_range: usize,
    last_end: Option<usize>,
    touched: usize,
    document: &'v Value,
    /// How many values it may touch.
    most: usize,
}

impl<'t, 'v> Evaluation<'t, 'v> {
    pub(super) fn new(actions: &'t [Node], allow_missing: bool, document: &'v Value) -> Self {
        let (begin_range, in_range, end_range, last_end) = (0, 0, 0, None);
        let (touched, most) = (0, MOST);
        Evaluation { actions, allow_missing, begin_range, in_range, end_range, last_end, touched, document, most }
    }

    pub(super) fn run(mut self) -> Result<Vec<Items<'v>>, PathError> {
        let mut results = Vec::new();
        self.find(Item::Json(self.document), 0, 0, &mut results)?;
        Ok(results)
    }

    /// `FindResults` from one action on. Ranges nest as deep as the template says.
    fn find(
        &mut self,
        document: Item<'v>,
        from: usize,
        depth: usize,
        results: &mut Vec<Items<'v>>,
    ) -> Result<(), PathError> {
        if depth > DEEPEST {
            return Err(PathError::new("ranges are nested too deep"));
        }
        let mut at = from;
        while let Some(action) = self.actions.get(at) {
            let found = self.walk(vec![document.clone()], action)?;
            if self.end_range > 0 && self.end_range <= self.in_range {
                self.end_range -= 1;
                self.last_end = Some(at);
                break;
            }
            if self.begin_range == 0 {
                results.push(found);
                at += 1;
                continue;
            }
            self.begin_range -= 1;
            self.in_range += 1;
            if found.is_empty() {
                // So that the end of the range is found.
                self.find(Item::Nothing, at + 1, depth + 1, &mut Vec::new())?;
            }
            for item in found {
                // A null in a document is nothing once it is what a range is about.
                let item = if matches!(item, Item::Json(Value::Null)) { Item::Nothing } else { item };
                self.find(item, at + 1, depth + 1, results)?;
            }
            self.in_range -= 1;
            at = self.last_end.filter(|end| *end > at).unwrap_or(at) + 1;
        }
        Ok(())
    }

    fn walk(&mut self, input: Items<'v>, node: &Node) -> Result<Items<'v>, PathError> {
        self.touched += input.len() + 1;
        if self.touched > self.most {
            // Only now: to count a document takes as long as to walk it.
            self.most = MOST.max(size(self.document).saturating_mul(MOST_OFTEN));
            if self.touched > self.most {
                return Err(PathError::new("the template takes too long"));
            }
        }
        match node {
            Node::List(nodes) => self.list(input, nodes),
            Node::Text(text) => Ok(vec![Item::Text(Cow::Owned(text.clone()))]),
            Node::Field(name) => self.field(&input, name),
            Node::Slice(slice) => elements(&input, *slice),
            Node::Filter { left, right, operator } => self.filter(input, left, right, operator),
            Node::Int(number) => Ok(vec![Item::Int(*number); input.len()]),
            Node::Float(number) => Ok(vec![Item::Float(*number); input.len()]),
            Node::Bool(value) => Ok(vec![Item::Bool(*value); input.len()]),
            Node::Wildcard => Ok(input.iter().flat_map(children).collect()),
            Node::Recursive => Ok(self.descendants(input)),
            Node::Union(parts) => {
                let mut results = Vec::new();
                for part in parts {
                    results.append(&mut self.list(input.clone(), part)?);
                }
                Ok(results)
            }
            Node::Identifier(name) => self.identifier(input, name),
        }
    }

    fn list(&mut self, input: Items<'v>, nodes: &[Node]) -> Result<Items<'v>, PathError> {
        nodes.iter().try_fold(input, |input, node| self.walk(input, node))
    }

    fn identifier(&mut self, input: Items<'v>, name: &str) -> Result<Items<'v>, PathError> {
        match name {
            "range" => {
                self.begin_range += 1;
                Ok(input)
            }
            "end" if self.in_range > 0 => {
                self.end_range += 1;
                Ok(Vec::new())
            }
            "end" => Err(PathError::new("not in range, nothing to end")),
            _ => Err(PathError::new(format!("unrecognized identifier {name}"))),
        }
    }

    fn field(&self, input: &[Item<'v>], name: &str) -> Result<Items<'v>, PathError> {
        let found: Items<'v> = input
            .iter()
            .filter_map(|item| match item {
                Item::Json(Value::Object(fields)) => fields.get(name).map(Item::Json),
                _ => None,
            })
            .collect();
        if found.is_empty() && !input.is_empty() && !self.allow_missing {
            // Nulls have no fields, and miss none.
            return Err(PathError::new(format!("{name} is not found")));
        }
        Ok(found)
    }

    /// Every value below that has parts, each before its parts.
    fn descendants(&mut self, input: Items<'v>) -> Items<'v> {
        let mut results = Vec::new();
        let mut open: Items<'v> = input;
        open.reverse();
        while let Some(item) = open.pop() {
            let below = children(&item);
            self.touched += below.len();
            if !below.is_empty() {
                results.push(item);
                open.extend(below.into_iter().rev());
            }
        }
        results
    }

    fn filter(
        &mut self,
        input: Items<'v>,
        left: &[Node],
        right: &[Node],
        operator: &str,
    ) -> Result<Items<'v>, PathError> {
        let mut results = Vec::new();
        for item in input {
            let Item::Json(Value::Array(elements)) = item else {
                let mut text = String::new();
                values::print(&item, &mut text);
                return Err(PathError::new(format!("{text} is not array or slice and cannot be filtered")));
            };
            for element in elements {
                let element = Item::Json(element);
                let lefts = self.list(vec![element.clone()], left);
                if operator == "exists" {
                    if lefts.is_ok_and(|lefts| !lefts.is_empty()) {
                        results.push(element);
                    }
                    continue;
                }
                let Some(left) = single(lefts?)? else { continue };
                let Some(right) = single(self.list(vec![element.clone()], right)?)? else { continue };
                if values::compare(&left, &right, operator)? {
                    results.push(element);
                }
            }
        }
        Ok(results)
    }
}

/// How many values a document consists of.
fn size(document: &Value) -> usize {
    let (mut size, mut open) = (0, vec![document]);
    while let Some(value) = open.pop() {
        size += 1;
        match value {
            Value::Array(elements) => open.extend(elements),
            Value::Object(fields) => open.extend(fields.values()),
            _ => {}
        }
    }
    size
}

fn single(items: Items<'_>) -> Result<Option<Item<'_>>, PathError> {
    if items.len() > 1 {
        return Err(PathError::new("can only compare one element at a time"));
    }
    Ok(items.into_iter().next())
}

/// The fields of an object, the elements of an array, or the bytes of a text.
fn children<'v>(item: &Item<'v>) -> Items<'v> {
    match item {
        Item::Json(Value::Object(fields)) => fields.values().map(Item::Json).collect(),
        Item::Json(Value::Array(elements)) => elements.iter().map(Item::Json).collect(),
        Item::Json(Value::String(text)) => text.bytes().map(Item::Byte).collect(),
        Item::Text(text) => text.bytes().map(Item::Byte).collect(),
        _ => Vec::new(),
    }
}

fn elements<'v>(input: &[Item<'v>], slice: Slice) -> Result<Items<'v>, PathError> {
    let mut results = Vec::new();
    let Slice { start, end, is_index, step } = slice;
    for item in input {
        let elements = match item {
            Item::Json(Value::Null) => continue,
            Item::Json(Value::Array(elements)) => elements,
            other => {
                return Err(PathError::new(format!(
                    "{} is not array or slice",
                    values::type_of(&values::value(other))
                )));
            }
        };
        let length = i64::try_from(elements.len()).unwrap_or(i64::MAX);
        let mut start = start.unwrap_or(0);
        if start < 0 {
            start += length;
        }
        let mut until = end.unwrap_or(length);
        if until < 0 || (until == 0 && is_index) {
            until += length;
        }
        if until == start {
            return Ok(results);
        }
        let out_of_bounds =
            |index: i64| Err(PathError::new(format!("array index out of bounds: index {index}, length {length}")));
        if start >= length || start < 0 {
            return out_of_bounds(start);
        }
        if until > length || until < 0 {
            return out_of_bounds(until - 1);
        }
        if start > until {
            return Err(PathError::new(format!("starting index {start} is greater than ending index {until}")));
        }
        if step.is_some_and(|step| step <= 0) {
            return Err(PathError::new("step must be > 0"));
        }
        let range = usize::try_from(start).unwrap_or(0)..usize::try_from(until).unwrap_or(0);
        let step = step.and_then(|step| usize::try_from(step).ok()).unwrap_or(1);
        results.extend(elements[range].iter().step_by(step).map(Item::Json));
    }
    Ok(results)
}
