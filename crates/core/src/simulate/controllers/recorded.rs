//! Who is recorded as having added a finalizer: the names in managed fields.

use crate::model::{ObjectId, Symbol, facts::Setter};

use super::{super::context::SimContext, managers::tells_nobody};

/// Who added a finalizer.
pub(super) enum AddedBy<'a> {
    /// A program of this name.
    Program(&'a str),
    /// A person's tool, or a program with a default name.
    Anyone(&'a str),
    NotRecorded,
    Unread,
}

/// The setters of this finalizer. `setters` are sorted by finalizer.
pub(super) fn of_finalizer<'a>(setters: &'a [Setter], finalizer: &'a str) -> impl Iterator<Item = &'a Setter> {
    let first = setters.partition_point(|setter| *setter.finalizer < *finalizer);
    setters[first..].iter().take_while(move |setter| setter.finalizer == finalizer)
}

pub(super) fn added_by<'a>(context: &SimContext<'a>, object: ObjectId, finalizer: &'a str) -> AddedBy<'a> {
    let Some(setters) = context.snapshot.facts.setters(object) else {
        context.lacks(|needs| needs.setters.insert(object));
        return AddedBy::Unread;
    };
    let mut managers: Vec<&str> = of_finalizer(setters, finalizer).map(|setter| setter.manager.as_str()).collect();
    managers.dedup();
    match managers.iter().find(|manager| !tells_nobody(manager)).or(managers.first()) {
        None => AddedBy::NotRecorded,
        Some(manager) if tells_nobody(manager) => AddedBy::Anyone(manager),
        Some(manager) => AddedBy::Program(manager),
    }
}

/// The program that has added this finalizer to other objects of the kind: somebody may have copied it by hand.
pub(super) fn adds_it_to_others<'a>(context: &SimContext<'a>, object: ObjectId, finalizer: Symbol) -> Option<&'a str> {
    let snapshot = context.snapshot;
    let samples = context.controllers.by_finalizer(snapshot).of(&(snapshot.object(object).resource, finalizer));
    let mut others = samples.iter().copied().filter(|other| *other != object);
    others.find_map(|other| match added_by(context, other, snapshot.text(finalizer)) {
        AddedBy::Program(program) => Some(program),
        _ => None,
    })
}

/// `AcmeOperator` as `acme-operator`.
pub(super) fn in_kebab_case(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 2);
    for (place, letter) in name.char_indices() {
        if letter.is_ascii_uppercase() && place > 0 {
            text.push('-');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}
