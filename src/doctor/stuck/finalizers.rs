//! Deletions that a finalizer holds (S1–S3, S17), and what is set off once it is removed (armed deletions).

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use crate::{
    doctor::{
        Code, Finding, Remedy,
        case::{Case, Gathering},
        liveness::{Keeper, Liveness, keeper},
    },
    foretell::{Prognosis, State, actors::has_living_controller, effects_of},
    model::{
        ObjectId, ResourceId, Symbol,
        effects::{Severity, When, known_finalizer},
    },
};

use super::{it, objects, since, waiting_for, waiting_in_the_foreground, waits};

/// A controller that is there may need this long for what it does first, in seconds, before anything is said of it.
const PATIENCE: i64 = 600;

/// One finalizer on objects of one kind, with one keeper.
type Group = (ResourceId, Symbol, Keeper);

/// Finds terminating objects that a finalizer holds which nobody is known to remove.
pub(super) fn gather(case: &Case<'_>, roots: &[(ObjectId, State)], gathering: &mut Gathering) {
    let snapshot = case.snapshot();
    let mut groups: BTreeMap<Group, Vec<ObjectId>> = BTreeMap::new();
    let roots: FxHashSet<ObjectId> = roots.iter().map(|(id, _)| *id).collect();
    for (id, object) in snapshot.objects().filter(|(_, object)| object.terminating()) {
        if case.fresh.contains(&id) {
            continue;
        }
        let is_root = roots.contains(&id);
        for finalizer in object.finalizers.iter().copied() {
            if finalizer.is_collectors_finalizer() || finalizer == Symbol::DEFINITION {
                continue;
            }
            let resource = snapshot.resources.get(object.resource);
            let known = known_finalizer(snapshot.text(finalizer), &resource.group, &resource.kind);
            let by_itself = known.is_some_and(|known| known.when != When::Elsewhere);
            // What a built-in controller removes by itself is nobody's fault, unless it takes very long.
            if by_itself && !(case.prognosis.goes(id) && case.now.is_some() && case.has_been_terminating(id, PATIENCE)) {
                continue;
            }
            if !by_itself && !is_root {
                continue;
            }
            let keeper = match known.filter(|_| by_itself) {
                Some(known) => Keeper {
                    manager: Some(known.by.to_owned()),
                    liveness: Liveness::Unknown(format!("{} removes it", known.by)),
                    workload: None,
                },
                None => keeper(case, &mut gathering.wanted, id, finalizer),
            };
            groups.entry((object.resource, finalizer, keeper)).or_default().push(id);
        }
    }
    for (group, objects) in groups {
        if let Some(finding) = finding(case, gathering, group, objects) {
            gathering.explained.extend(finding.objects.iter().chain(&finding.related).copied());
            gathering.findings.push(finding);
        }
    }
}

fn finding(
    case: &Case<'_>,
    gathering: &mut Gathering,
    (resource, finalizer, keeper): Group,
    objects: Vec<ObjectId>,
) -> Option<Finding> {
    let snapshot = case.snapshot();
    let kind = snapshot.resources.get(resource);
    let text = snapshot.text(finalizer);
    let known = known_finalizer(text, &kind.group, &kind.kind);
    let widespread = known.is_some() || has_living_controller(text, &kind.group, &kind.kind);
    let related = waiting_for(case, &objects);
    let lasts = objects.iter().any(|id| case.has_been_terminating(*id, PATIENCE));
    let away = matches!(keeper.liveness, Liveness::Away(_));
    let expected = matches!(keeper.liveness, Liveness::Alive(_)) || (widespread && !away);
    // A finalizer of something that is there, or of an add-on that is everywhere, is only told of when it takes long.
    if expected && !lasts {
        gathering.explained.extend(objects.iter().chain(&related).copied());
        return None;
    }
    let fires = if away { Fires::of(case, gathering, &objects, finalizer) } else { Fires::default() };
    let code = match (expected, fires.is_nothing()) {
        (true, _) => Code::SlowFinalizer,
        (false, false) => Code::ArmedDeletion,
        (false, true) => Code::StuckFinalizer,
    };
    let mut message =
        format!("Terminating{}, held by the finalizer {text}; {}.", since(case, &objects), keeper.liveness.evidence());
    if let Some(known) = known.filter(|known| !keeper.liveness.evidence().contains(known.by)) {
        message.push_str(&format!(" {} is to remove it.", upper_first(known.by)));
    }
    let waiting = waits(case, &related, objects[0]);
    let consequence = match code {
        Code::ArmedDeletion => format!("Whoever brings its controller back {}: decide that first.{waiting}", fires.told(&objects)),
        Code::SlowFinalizer => format!("It goes once its controller is through; why that takes so long, its log says.{waiting}"),
        _ => format!("{} until somebody removes the finalizer.{waiting}{}", stays(&objects), subtree(case, &objects)),
    };
    Some(Finding {
        code,
        severity: if code == Code::SlowFinalizer { Severity::Info } else { code.severity() },
        cause: format!("{} {text} {}", kind.full_name(), keeper.manager.as_deref().unwrap_or_default()),
        message,
        consequence,
        reference: None,
        remedies: remedies(case, code, finalizer, &keeper, &fires, &objects, &related),
        related,
        objects,
    })
}

fn stays(objects: &[ObjectId]) -> &'static str {
    if objects.len() == 1 { "It stays" } else { "They stay" }
}

/// S3: what was deleted in the background keeps its dependents until it is really gone.
fn subtree(case: &Case<'_>, held: &[ObjectId]) -> String {
    let below: usize = held.iter().map(|id| case.graph().dependents((*id).into()).len()).sum();
    if below == 0 { String::new() } else { format!(" Only then are its dependents looked at ({}).", objects(below)) }
}

/// What happens once a finalizer is removed by its controller.
#[derive(Default)]
struct Fires {
    /// What is done outside the graph, in words, with the number of objects that it is done for.
    outside: Vec<(String, usize)>,
    /// Objects that the collector deletes afterwards, besides those that are held.
    inside: Vec<ObjectId>,
}

impl Fires {
    fn of(case: &Case<'_>, gathering: &mut Gathering, held: &[ObjectId], finalizer: Symbol) -> Self {
        let (effects, needs) = effects_of(case.stage, held);
        gathering.wanted.needs.add(&needs);
        let mut outside: BTreeMap<String, FxHashSet<ObjectId>> = BTreeMap::new();
        for effect in effects.into_iter().filter(|effect| effect.severity() == Severity::Error) {
            outside.entry(effect.message.into_owned()).or_default().insert(effect.object);
        }
        let released: Vec<(ObjectId, Symbol)> = held.iter().map(|id| (*id, finalizer)).collect();
        let after = Prognosis::released(case.stage, &released);
        let live = |id: &ObjectId| !case.snapshot().object(*id).terminating();
        let mut inside: Vec<ObjectId> = after.all_that_goes().filter(|id| live(id) && !case.prognosis.goes(*id)).collect();
        inside.sort_unstable();
        Fires { outside: outside.into_iter().map(|(words, objects)| (words, objects.len())).collect(), inside }
    }

    fn is_nothing(&self) -> bool {
        self.outside.is_empty() && self.inside.is_empty()
    }

    fn told(&self, held: &[ObjectId]) -> String {
        let mut told = Vec::new();
        for (words, number) in &self.outside {
            told.push(if held.len() == 1 {
                format!("sets this off: {words}")
            } else {
                format!("sets this off for {}: {words}", objects(*number))
            });
        }
        if !self.inside.is_empty() {
            told.push(format!(
                "has the collector delete {} here that {} still live",
                objects(self.inside.len()),
                if self.inside.len() == 1 { "is" } else { "are" }
            ));
        }
        told.join(", and ")
    }
}

fn remedies(
    case: &Case<'_>,
    code: Code,
    finalizer: Symbol,
    keeper: &Keeper,
    fires: &Fires,
    objects: &[ObjectId],
    related: &[ObjectId],
) -> Vec<Remedy> {
    let commands = case.commands();
    let mut remedies = Vec::new();
    let waiting = waiting_in_the_foreground(case, related);
    if !waiting.is_empty() {
        remedies.push(Remedy::new(
            format!("let only {} wait: delete again in the background what waits for {}", it(objects), it(objects)),
            commands.delete(&waiting, "background"),
        ));
    }
    let strip = objects.iter().filter_map(|id| commands.remove_finalizer(*id, finalizer)).collect();
    let harm = match (code, fires.inside.len()) {
        (Code::ArmedDeletion, 0) => "remove the finalizer without its controller: what it stands for outside the cluster stays, and nobody knows of it any more".to_owned(),
        (Code::ArmedDeletion, inside) => format!("remove the finalizer without its controller: the collector then deletes {} that depend on {}", super::objects(inside), it(objects)),
        _ => "remove the finalizer: what its controller was to do first is then never done".to_owned(),
    };
    let start = keeper.workload.map(|workload| {
        let what = if fires.is_nothing() { "start its controller" } else { "start its controller, which sets all of that off" };
        Remedy::new(what, vec![format!("kubectl scale {} --replicas=1", commands.named(workload))])
    });
    if code == Code::SlowFinalizer {
        let look = objects.iter().take(1).map(|id| commands.get(*id)).collect();
        remedies.insert(0, Remedy::new("see what its controller says of it", look));
    }
    remedies.push(Remedy::new(harm, strip));
    remedies.extend(start);
    remedies
}

fn upper_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
