//! Scripted watches and look-ups.

use crate::{
    account::{Account, Answer, Change, Happening, Holds, LookUp, Millis, Owner, OwnerState, Reason, Scope, What},
    model::{RawObject, RawReference, Resource},
};

/// The resources that are watched, by their numbers.
pub(super) const KINDS: [(&str, &str, &str); 6] = [
    ("", "ConfigMap", "configmaps"),
    ("apps", "Deployment", "deployments"),
    ("", "Namespace", "namespaces"),
    ("apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions"),
    ("acme.io", "Runner", "runners"),
    ("acme.io", "Rack", "racks"),
];

/// An account with all its watches, whose look-ups the test answers.
pub(super) struct Play {
    pub account: Account,
    pub now: Millis,
    version: u64,
    /// The look-ups that were made.
    pub asked: Vec<LookUp>,
}

impl Play {
    /// An account that has begun, of this scope. Nothing exists.
    pub(super) fn begun(scope: Scope) -> Self {
        Self::with(scope, &[])
    }

    /// The same with these objects at the beginning.
    pub(super) fn with(scope: Scope, objects: &[RawObject<'static>]) -> Self {
        let mut play = Self::unlisted(scope);
        for id in 0..KINDS.len() as u32 {
            play.account.listing(id, play.now);
            for object in objects.iter().filter(|object| kind_of(object) == id) {
                play.account.see(id, object, false, play.now);
            }
            play.account.listed(id, play.now);
        }
        assert!(play.account.is_ready());
        play.account.begin(Vec::new(), play.now);
        let told = play.told();
        assert!(matches!(told[0].what, What::Watching { resources: 6, .. }), "{told:?}");
        play
    }

    /// An account whose watches have not begun.
    pub(super) fn unlisted(scope: Scope) -> Self {
        let mut account = Account::new(scope);
        for (id, (group, kind, plural)) in KINDS.iter().enumerate() {
            account.watch(id as u32, &Resource { namespaced: false, ..Resource::named(group, "v1", plural, kind) });
        }
        Play { account, now: 1_000_000, version: 100, asked: Vec::new() }
    }

    /// A watch shows an object.
    pub(super) fn see(&mut self, object: &RawObject<'static>) {
        self.show(object, false);
    }

    /// A watch shows that an object is gone.
    pub(super) fn gone(&mut self, object: &RawObject<'static>) {
        self.show(object, true);
    }

    fn show(&mut self, object: &RawObject<'static>, gone: bool) {
        self.version += 1;
        self.now += 1;
        let object = RawObject { resource_version: self.version.to_string().into(), ..object.clone() };
        self.account.see(kind_of(&object), &object, gone, self.now);
    }

    /// Answers all look-ups.
    pub(super) fn answer(&mut self, answer: impl Fn(&LookUp) -> Answer) {
        while let Some(look_up) = self.account.next_look_up() {
            self.account.answered(&look_up, answer(&look_up));
            self.asked.push(look_up);
        }
    }

    /// What is told within half a minute from now, without the later reminders.
    pub(super) fn told(&mut self) -> Vec<Happening> {
        self.now += 400;
        self.account.advance(self.now)
    }

    /// The changes of objects that are told now: `Kind/name` and the change.
    pub(super) fn changes(&mut self) -> Vec<(String, Change)> {
        let object = |happening: Happening| match happening.what {
            What::Object { object, change } => Some((object.short_name(), change)),
            _ => None,
        };
        self.told().into_iter().filter_map(object).collect()
    }
}

/// The number of the resource of an object, whose uid begins with its kind.
fn kind_of(object: &RawObject<'_>) -> u32 {
    let kind = object.uid.split('-').next().unwrap_or_default();
    KINDS.iter().position(|(_, known, _)| known.to_lowercase() == kind).expect("a known kind") as u32
}

/// An object of the namespace `shop`; its uid is `kind-name-NUMBER`.
pub(super) fn object(kind: &str, name: &str, number: u32) -> RawObject<'static> {
    let scoped = ["Namespace", "CustomResourceDefinition", "Rack"].contains(&kind);
    RawObject::named(
        if scoped { "" } else { "shop" },
        name.to_owned(),
        format!("{}-{name}-{number}", kind.to_lowercase()),
    )
}

/// The object with this owner, too.
pub(super) fn owned(mut object: RawObject<'static>, kind: &str, name: &str, number: u32) -> RawObject<'static> {
    let (group, ..) = KINDS.iter().find(|(_, known, _)| *known == kind).expect("a known kind");
    let api_version = if group.is_empty() { "v1".to_owned() } else { format!("{group}/v1") };
    object.owners.push(RawReference {
        block_owner_deletion: Some(true),
        ..RawReference::to(
            api_version,
            kind.to_owned(),
            name.to_owned(),
            format!("{}-{name}-{number}", kind.to_lowercase()),
        )
    });
    object
}

/// The object after the request of its deletion, with these finalizers.
pub(super) fn terminating(mut object: RawObject<'static>, finalizers: &[&'static str]) -> RawObject<'static> {
    object.deleted = Some(1_000);
    object.finalizers = finalizers.iter().map(|finalizer| (*finalizer).into()).collect();
    object
}

pub(super) fn made_by(mut object: RawObject<'static>, manager: &'static str) -> RawObject<'static> {
    object.manager = manager.into();
    object
}

pub(super) const EXISTS: Answer = Answer::Found { terminating: false, waiting: false, orphaning: false };
pub(super) const WAITS: Answer = Answer::Found { terminating: true, waiting: true, orphaning: false };
pub(super) const ABSENT: Answer = Answer::Absent { current_uid: None };

/// The states of the owners in a reason.
pub(super) fn states(why: &Reason) -> Vec<OwnerState> {
    let state = |owner: &Owner| owner.state.clone();
    match why {
        Reason::OwnersGone { owners }
        | Reason::OwnerWaits { owners }
        | Reason::OwnerExists { owners }
        | Reason::Unknown { owners } => owners.iter().map(state).collect(),
        _ => Vec::new(),
    }
}

/// An object that is gone at once, for this reason.
pub(super) fn gone_for(changes: &[(String, Change)], name: &str) -> Reason {
    let why = changes.iter().find_map(|(known, change)| match change {
        Change::Gone { why: Some(why), .. } if known == name => Some(why.clone()),
        _ => None,
    });
    why.unwrap_or_else(|| panic!("{name} is not gone in {changes:#?}"))
}

/// What a change waits for.
pub(super) fn holds(change: &Change) -> &Holds {
    match change {
        Change::DeletionRequested { holds, .. } | Change::StillTerminating { holds, .. } => holds,
        other => panic!("{other:?}"),
    }
}
