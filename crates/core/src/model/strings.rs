//! Interned strings: every name, uid and kind of a snapshot is stored once and compared by number. So is every list of
//! finalizers, owners and labels: most objects share theirs with others.

use std::{borrow::Borrow, sync::Arc};

use serde::Serialize;
use string_interner::{DefaultHashBuilder, StringInterner, backend::StringBackend, symbol::SymbolU32};

use super::{compact::Pool, reference::Reference};

/// The finalizer of a foreground deletion: the collector deletes dependents first (§5).
pub const FOREGROUND_FINALIZER: &str = "foregroundDeletion";
/// The finalizer of an orphaning: the collector removes dependents' references first (§6).
pub const ORPHAN_FINALIZER: &str = "orphan";
/// The finalizer that keeps a CustomResourceDefinition until its instances are gone (R1.26).
pub(crate) const DEFINITION_FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";
/// The finalizer that holds an object.
pub const HOLD: &str = "kubectl-gc/hold";
/// The finalizer that an object has beside [`HOLD`] as long as its delete may go on: the first thing that is removed to
/// take it back.
pub const UNCANCELLED: &str = "kubectl-gc/uncancelled";

/// An interned string. Symbols of the same [`Strings`] are equal if and only if their texts are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Symbol(u32);

impl Symbol {
    /// The empty string; as a namespace: cluster scope.
    pub const EMPTY: Symbol = Symbol(0);
    /// The finalizer [`FOREGROUND_FINALIZER`].
    pub const FOREGROUND: Symbol = Symbol(1);
    /// The finalizer [`ORPHAN_FINALIZER`].
    pub const ORPHAN: Symbol = Symbol(2);
    /// The finalizer [`DEFINITION_FINALIZER`].
    pub const DEFINITION: Symbol = Symbol(3);

    /// Whether this is a finalizer of the collector (§1.3): foreground or orphan.
    pub fn is_collectors_finalizer(self) -> bool {
        self == Symbol::FOREGROUND || self == Symbol::ORPHAN
    }

    pub fn is_empty(self) -> bool {
        self == Self::EMPTY
    }

    /// The symbol with this index.
    pub(crate) fn of_index(index: usize) -> Symbol {
        Symbol(index as u32)
    }

    /// The symbol as an index into tables as long as [`Strings::len`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A list that is looked up by its content, and copied only if it is new.
pub trait Listed<T>: Borrow<[T]> + Into<Arc<[T]>> {}

impl<T, L: Borrow<[T]> + Into<Arc<[T]>>> Listed<T> for L {}

/// A string interner that only grows.
#[derive(Clone, Debug)]
pub struct Strings {
    interner: StringInterner<StringBackend<SymbolU32>, DefaultHashBuilder>,
    finalizers: Pool<[Symbol]>,
    owners: Pool<[Reference]>,
    labels: Pool<[(Symbol, Symbol)]>,
}

impl Default for Strings {
    fn default() -> Self {
        let mut strings = Strings {
            interner: StringInterner::new(),
            finalizers: Pool::default(),
            owners: Pool::default(),
            labels: Pool::default(),
        };
        for text in ["", FOREGROUND_FINALIZER, ORPHAN_FINALIZER, DEFINITION_FINALIZER] {
            strings.intern(text);
        }
        strings
    }
}

impl Strings {
    /// The symbol of a text; adds the text if necessary.
    pub fn intern(&mut self, text: &str) -> Symbol {
        use string_interner::Symbol as _;
        Symbol(self.interner.get_or_intern(text).to_usize() as u32)
    }

    /// The shared list of finalizers that equals this one.
    pub fn finalizers(&mut self, list: impl Listed<Symbol>) -> Arc<[Symbol]> {
        self.finalizers.share(list).0
    }

    /// The shared list of owners that equals this one.
    pub fn owners(&mut self, list: impl Listed<Reference>) -> Arc<[Reference]> {
        self.owners.share(list).0
    }

    /// The shared list of labels that equals this one.
    pub fn labels(&mut self, list: impl Listed<(Symbol, Symbol)>) -> Arc<[(Symbol, Symbol)]> {
        self.labels.share(list).0
    }

    /// The symbol of a text, if known.
    pub fn find(&self, text: &str) -> Option<Symbol> {
        use string_interner::Symbol as _;
        self.interner.get(text).map(|symbol| Symbol(symbol.to_usize() as u32))
    }

    /// The text of a symbol.
    ///
    /// # Panics
    /// When the symbol comes from another `Strings`.
    pub fn text(&self, symbol: Symbol) -> &str {
        use string_interner::Symbol as _;
        SymbolU32::try_from_usize(symbol.index())
            .and_then(|symbol| self.interner.resolve(symbol))
            .expect("a symbol is resolved by the strings that made it")
    }

    pub fn len(&self) -> usize {
        self.interner.len()
    }

    /// Always `false`: the empty string is always interned.
    pub fn is_empty(&self) -> bool {
        self.interner.is_empty()
    }
}
