//! Structs that are written without what says nothing: most objects have few of the facts of their kind.

/// Declares such structs. A field with a question mark is left out where it has its default.
macro_rules! sparse {
    ($($(#[$meta:meta])* $visible:vis struct $name:ident { $($fields:tt)* })*) => {
        $(sparse! { @field [$(#[$meta])* $visible struct $name] [] $($fields)* })*
    };
    (@field $head:tt [$($done:tt)*] $(#[$meta:meta])* pub $name:ident?: $type:ty, $($rest:tt)*) => {
        sparse! { @field $head [$($done)* $(#[$meta])*
            #[serde(default, skip_serializing_if = "crate::model::sparse::is_default")] pub $name: $type,] $($rest)* }
    };
    (@field $head:tt [$($done:tt)*] $(#[$meta:meta])* pub $name:ident: $type:ty, $($rest:tt)*) => {
        sparse! { @field $head [$($done)* $(#[$meta])* pub $name: $type,] $($rest)* }
    };
    (@field [$($head:tt)*] [$($fields:tt)*]) => {
        #[derive(Clone, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        $($head)* { $($fields)* }
    };
}

/// Whether a value says nothing.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
