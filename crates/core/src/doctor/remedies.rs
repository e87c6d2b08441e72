//! Remedies that plans share with the doctor, and with it explanations: one wording for each. A list of them begins
//! with what harms least.

use serde_json::json;

use crate::{
    command_line::{SEE_MANAGER, ShellCommand},
    hold::Held,
    model::{ObjectId, effects::Guard, facts::PodFacts},
    simulate::{
        FinalizerController, Obstacle, ObstacleKind,
        controllers::{Lack, Needed},
        obstacles::is_on,
    },
    wording::each_once,
};

use super::{
    case::sorted,
    commands::{Commands, one_after_another},
    finding::{Remedy, Step},
};

/// At most this many commands show or change one object each.
const MOST: usize = 8;
/// At most this many volumes are changed with one command.
const TOGETHER: usize = 50;

impl Commands<'_> {
    /// What mends an obstacle to a delete, or prevents it.
    pub fn past(self, obstacle: &Obstacle) -> Vec<Remedy> {
        let (snapshot, prevents) = (self.snapshot, &obstacle.prevents);
        let guarded = |guard: &'static Guard| {
            let all = prevents.iter().copied();
            all.filter(move |id| guard.may_be_on(snapshot.resource(*id)) && is_on(snapshot, *id, guard))
        };
        match obstacle.kind {
            ObstacleKind::ControllersAway { .. } => {
                let helps = obstacle.collected && !prevents.is_empty();
                let sweep = helps.then(|| self.kubectl.plugin("sweep").arg("--dry-run"));
                let sweep = Step::GiveUp.by("let kubectl gc sweep do the collector's work. See what that is", sweep);
                vec![self.start_manager(), sweep]
            }
            ObstacleKind::WebhookUnreachable { configuration, .. } if obstacle.taken_down => {
                let take = self.take_away(configuration);
                vec![Step::First.by("delete the webhook's configuration, and keep a copy to apply it again", take)]
            }
            ObstacleKind::WebhookUnreachable { configuration, place } => {
                self.past_webhooks(&[(configuration, vec![place as usize])], 1, obstacle.idle, obstacle.refuses_start)
            }
            ObstacleKind::PolicyRefuses { binding, lacks_parameters, .. } => {
                vec![self.past_policy(binding, lacks_parameters)]
            }
            ObstacleKind::DeleteProtected { guard, .. } if guard.while_any.is_empty() => {
                vec![self.unprotect(guarded(guard).take(MOST).map(|id| (id, guard)))]
            }
            ObstacleKind::DeleteProtected { guard, .. } => {
                let kinds = guard.while_any.iter().filter_map(|(group, kind)| {
                    let kind = snapshot.resources.by_group_kind(group, kind)?;
                    Some(snapshot.resources.get(kind).full_name())
                });
                let kinds = kinds.collect::<Vec<_>>().join(",");
                let users = self.kubectl.verb("get").args([kinds.as_str(), "--all-namespaces"]);
                vec![Step::First.by("delete what uses it. See what that is", [users])]
            }
            ObstacleKind::SchemaRefuses { .. } => {
                let invalid = prevents.iter().copied().filter(|id| snapshot.schema_fault(*id).is_some());
                vec![self.satisfy_schema(invalid.take(MOST))]
            }
            ObstacleKind::ApiUnavailable { service } => {
                self.start_backend(obstacle.idle).into_iter().chain([self.unregister(&[service])]).collect()
            }
            ObstacleKind::ConversionBroken { definition } => {
                self.start_backend(obstacle.idle).into_iter().chain([self.unconverted(&[definition])]).collect()
            }
        }
    }

    /// Starts the workload behind a Service.
    pub(super) fn start_backend(self, idle: Option<ObjectId>) -> Option<Remedy> {
        Some(Step::Heal.by("start what is behind its Service, and scaled to 0", [self.scale_up(idle?)?]))
    }

    /// What only a controller manager does, it does once it runs.
    pub(super) fn start_manager(self) -> Remedy {
        let look = self.kubectl.verb("get").args(SEE_MANAGER);
        Step::Heal.by("start kube-controller-manager. Its pods, where it has any", [look])
    }

    /// Shows why a controller manager that seems to run leaves something undone.
    pub(super) fn see_manager(self) -> Remedy {
        Step::Look.by(
            "see why kube-controller-manager does not do it; once it runs, it does all of this by itself",
            [self.kubectl.verb("get").args(SEE_MANAGER)],
        )
    }

    /// Does without webhooks that can't be called, at these places of their configurations; and starts what is behind
    /// their Service, which one of them may refuse.
    pub(super) fn past_webhooks(
        self,
        places: &[(ObjectId, Vec<usize>)],
        number: usize,
        idle: Option<ObjectId>,
        refuses_start: bool,
    ) -> Vec<Remedy> {
        let allow = match number {
            1 => "allow writes while the webhook is unreachable: they are then not checked",
            _ => "allow writes while the webhooks are unreachable: they are then not checked",
        };
        let pass = places.iter().filter_map(|(configuration, places)| self.let_pass(*configuration, places));
        let mut allow = Step::GiveUp.by(allow, pass);
        let mut start = self.start_backend(idle);
        if let Some(start) = start.take_if(|_| refuses_start) {
            allow.what = format!(
                "{}; then {}, which the webhook refuses before; set failurePolicy to Fail again once it answers",
                allow.what, start.what
            );
            allow.commands = one_after_another(allow.commands.drain(..).chain(start.commands)).into_iter().collect();
        }
        let configurations: Vec<ObjectId> = places.iter().map(|(configuration, _)| *configuration).collect();
        start.into_iter().chain([allow, self.without_webhooks(&configurations)]).collect()
    }

    /// Does without the webhooks of configurations that were left behind.
    pub(super) fn without_webhooks(self, configurations: &[ObjectId]) -> Remedy {
        let what = match configurations.len() {
            1 => "delete the configuration and keep a copy, if its application is no longer installed",
            _ => "delete the configurations and keep a copy, if their application is no longer installed",
        };
        Step::GiveUp.by(what, configurations.iter().filter_map(|configuration| self.take_away(*configuration)))
    }

    /// Lets pass what a policy refuses, by this binding.
    pub(super) fn past_policy(self, binding: ObjectId, lacks_parameters: bool) -> Remedy {
        let (what, fields) = match lacks_parameters {
            true => (
                "let the policy pass what has no parameters (or create the parameters again): then nothing that it \
                 matches there is protected",
                json!({"spec": {"paramRef": {"parameterNotFoundAction": "Allow"}}}),
            ),
            false => (
                "let the policy warn instead of refuse: then nothing that it matches is protected, and the deletes go \
                 on",
                json!({"spec": {"validationActions": ["Warn", "Audit"]}}),
            ),
        };
        Step::Heal.by(what, self.merge(binding, &fields)).deciding(true)
    }

    /// Lets objects go that values guard (R9.48).
    pub(super) fn unprotect<'g>(self, guarded: impl Iterator<Item = (ObjectId, &'g Guard)>) -> Remedy {
        let lift = guarded.filter_map(|(id, guard)| self.lift(id, guard));
        Step::GiveUp.by("take the protection away, which somebody set on purpose", lift).deciding(true)
    }

    /// Lets the collector change objects again.
    pub(super) fn satisfy_schema(self, objects: impl Iterator<Item = ObjectId>) -> Remedy {
        let what = "make the objects satisfy the schema; then the collector changes them at its next try";
        Step::Heal.by(what, objects.filter_map(|id| self.edit(id)))
    }

    /// Does without APIs: their manifests are files that `kubectl apply` accepts.
    pub(super) fn unregister(self, services: &[ObjectId]) -> Remedy {
        let unregister = match services.len() {
            1 => {
                "unregister the API, and keep a copy of its APIService: until you apply that again, nobody can read or \
                 change its objects; those that it stores elsewhere are kept"
            }
            _ => {
                "unregister the APIs, and keep a copy of their APIServices: until you apply these again, nobody can \
                 read or change their objects; those that they store elsewhere are kept"
            }
        };
        Step::GiveUp.by(unregister, services.iter().filter_map(|id| self.take_away(*id))).deciding(true)
    }

    /// Has the API server convert the objects of CRDs by itself.
    pub(super) fn unconverted(self, definitions: &[ObjectId]) -> Remedy {
        let none = json!({"spec": {"conversion": {"strategy": "None", "webhook": null}}});
        let without = definitions.iter().filter_map(|id| Some(self.saved(*id)?.and(self.merge(*id, &none)?)));
        let copy = if definitions.len() > 1 { "copies of the CRDs" } else { "a copy of the CRD" };
        let what = format!(
            "convert without a webhook, and keep {copy}: what only one version has is missing in the other, and is \
             lost in each object that is changed meanwhile"
        );
        Step::GiveUp.by(what, without).deciding(true)
    }

    /// What keeps the data of these volumes, and of what else holds data; `None` if there are none.
    pub fn keep_volumes(self, holders: impl IntoIterator<Item = ObjectId>) -> Option<Remedy> {
        let holders: Vec<ObjectId> = holders.into_iter().collect();
        let (volumes, others): (Vec<ObjectId>, Vec<ObjectId>) =
            holders.iter().copied().partition(|id| self.is_volume(*id));
        // A command for some of them only would lose the others.
        let together = volumes.chunks(TOGETHER).filter_map(|some| self.retain_all(some));
        let retain: Vec<ShellCommand> = together.chain(others.iter().filter_map(|other| self.retain(*other))).collect();
        let what = match (others.len(), volumes.len()) {
            _ if retain.is_empty() => return None,
            (0, 1) => "keep the data: set the reclaim policy of its volume to Retain",
            (0, _) => "keep the data: set the reclaim policy of its volumes to Retain",
            _ => "keep the data: set the policy of what holds it to Retain",
        };
        Some(Remedy { holders, ..Step::Keep.by(what, retain).before_others() })
    }

    /// What ends pods that their kubelet doesn't. `collected`: whether the pod garbage collector should have deleted
    /// them by now, if it deletes them at all; `is_alive`: whether their kubelet is.
    pub fn end_pods(self, pods: &[ObjectId], collected: Option<bool>, is_alive: bool) -> Vec<Remedy> {
        let facts = pods.first().and_then(|pod| self.snapshot.facts.pod(*pod));
        let node = facts.and_then(|facts| facts.node.as_deref()).unwrap_or_default();
        let what = match is_alive {
            true => "see what hinders its kubelet",
            false => "bring the node back, or see what hinders its kubelet",
        };
        let look = self.look_at_node(node, what).filter(|_| collected.is_none());
        let give_up = self.give_node_up(node).filter(|_| collected.is_none() && !is_alive);
        let runs = "see whether kube-controller-manager runs: its pod garbage collector deletes such pods";
        let overdue = Step::Look.by(runs, [self.kubectl.verb("get").args(SEE_MANAGER)]);
        let overdue = Some(overdue).filter(|_| collected == Some(true));
        look.into_iter().chain(overdue).chain(give_up).chain([self.force_pods(pods)]).collect()
    }

    /// Shows the Node of pods.
    pub(super) fn look_at_node(self, node: &str, what: &str) -> Option<Remedy> {
        let describe = self.kubectl.verb("describe").object("nodes", "", node).filter(|_| !node.is_empty())?;
        Some(Step::Look.by(what, [describe]))
    }

    /// Says of a Node that it is shut down for good: the pod garbage collector then deletes its Terminating pods, and
    /// their volumes are detached (R9.7).
    fn give_node_up(self, node: &str) -> Option<Remedy> {
        // Unlike other commands, this one takes no TYPE/NAME.
        let taint = Some(self.kubectl.verb("taint").args(["nodes", node])).filter(|_| !node.is_empty())?;
        let what =
            "if the node is shut down and stays so, say it: its pods are then deleted, and their volumes detached";
        let taint = taint.arg("node.kubernetes.io/out-of-service=nodeshutdown:NoExecute");
        Some(Step::GiveUp.by(what, [taint]).deciding(true))
    }

    /// Force-deletes these pods.
    pub(super) fn force_pods(self, pods: &[ObjectId]) -> Remedy {
        let what = match pods {
            [_] => "force-delete the pod: only if you are certain that its containers no longer run",
            _ => "force-delete the pods: only if you are certain that their containers no longer run",
        };
        Step::Force.by(what, self.delete(pods, "background", &["--grace-period=0", "--force"]))
    }

    /// Lets go what `delete --hold` holds: takes the delete back, if it is recorded how, or lets it go on.
    pub fn end_hold(self, held: ObjectId, is_recorded: bool) -> Vec<Remedy> {
        let back = self.plugin("cancel", held).filter(|_| is_recorded);
        let waits = Held::of_object(self.snapshot, held) == Some(Held::Waits);
        let now = self.plugin("delete", held).filter(|_| waits).map(|delete| delete.arg("--hold=0s"));
        vec![
            Step::Heal.by("take the delete back", back).deciding(true),
            Step::GiveUp.by("delete it now", now).deciding(is_recorded),
        ]
    }

    /// Lets controllers remove their finalizers from an object: starts those that are scaled to 0, and gives the others
    /// what they lack. `perhaps`: what it means to start what may be one.
    pub fn heal(
        self,
        controllers: &[&FinalizerController],
        lacks: impl IntoIterator<Item = Lack>,
        object: ObjectId,
        perhaps: Step,
    ) -> Vec<Remedy> {
        let idle: Vec<ObjectId> = each_once(controllers.iter().filter_map(|controller| controller.idle)).collect();
        let start = format!("start the controller, {}", self.names(&idle, None));
        let start = Step::Heal.by(start, idle.iter().filter_map(|workload| self.scale_up(*workload)));
        let lacks = lacks.into_iter().chain(controllers.iter().flat_map(|controller| controller.lacks.iter().cloned()));
        let give = sorted(lacks).into_iter().filter_map(|lack| self.give(&lack, object, perhaps));
        let undrained = controllers.iter().find_map(|controller| controller.undrained.first());
        let evict = undrained.into_iter().flat_map(|undrained| self.evict(undrained.pod, undrained.budget));
        [start].into_iter().chain(give).chain(evict).collect()
    }

    /// Lets a pod go that a controller can't evict: by the budget that forbids it, or the pod's own annotation; or
    /// deletes it, which neither prevents.
    fn evict(self, pod: ObjectId, budget: Option<ObjectId>) -> [Remedy; 2] {
        let named = self.name(pod, None);
        let allow = match budget {
            Some(budget) => {
                let budget_named = self.name(budget, Some(pod));
                let what =
                    format!("let {budget_named} allow that: run more pods, or ask for fewer. See what it asks for");
                Step::Heal.by(what, self.get(budget))
            }
            None => {
                let without = json!({"metadata": {"annotations": {PodFacts::DO_NOT_DISRUPT: null}}});
                Step::Heal.by(format!("let {named} be evicted"), self.merge(pod, &without)).deciding(true)
            }
        };
        let delete = self.delete(&[pod], "background", &[]);
        [allow, Step::GiveUp.by(format!("delete {named} without asking its budget"), delete).deciding(true)]
    }

    /// Brings back a controller that is gone.
    pub fn install(self, gone: &str) -> Remedy {
        let what = format!("install or repair {gone}: it removes the finalizer, after its cleanup. See what runs");
        Step::Heal.by(what, [self.see_workloads()])
    }

    /// Shows what the controllers that run say, or what may be one by its name; and why others have no ready pod.
    pub fn ask(self, controllers: &[&FinalizerController]) -> [Remedy; 2] {
        let asked = controllers.iter().filter(|it| !it.running.is_empty() || !it.is_away()).flat_map(|it| it.acting());
        let failing = controllers.iter().flat_map(|controller| &controller.failing);
        let [asked, failing] = [sorted(asked.copied()), sorted(failing.copied())].map(|mut all| {
            all.truncate(MOST);
            all
        });
        let (says, have) =
            (if asked.len() == 1 { "says" } else { "say" }, if failing.len() == 1 { "has" } else { "have" });
        let says = format!("see what {} {says}", self.names(&asked, None));
        let fails = format!("see why {} {have} no ready pod", self.names(&failing, None));
        [
            Step::Look.by(says, asked.iter().filter_map(|id| self.logs(*id))),
            Step::Look.by(fails, failing.iter().filter_map(|id| self.about("describe", *id))),
        ]
    }

    /// Shows the workloads that controllers may run as.
    pub(super) fn see_workloads(self) -> ShellCommand {
        let kinds = "deployments.apps,statefulsets.apps,daemonsets.apps";
        self.kubectl.verb("get").args([kinds, "--all-namespaces"])
    }

    /// Whether an object is being deleted, or its namespace.
    fn is_leaving(self, namespace: &str, object: Option<ObjectId>) -> bool {
        let all = self.snapshot.resources.by_group_kind("", "Namespace");
        let place = all.and_then(|all| self.snapshot.look_up_named(all, "", namespace).object());
        place.into_iter().chain(object).any(|id| self.snapshot.object(id).terminating())
    }

    /// Shows what there is in the place of something that is missing; with that, somebody goes on.
    pub(super) fn make_missing(self, needed: &Needed, then: &str) -> Remedy {
        let (kind, namespace) = (&needed.place.0, needed.place.1.as_str());
        let get = self.kubectl.verb("get").arg(kind);
        let get = if namespace.is_empty() { Some(get) } else { get.in_namespace(namespace) };
        let what = format!("make {} again, as it was: {then}. See what there is", needed.name());
        // A namespace that is being deleted takes nothing new.
        Step::Heal.by(what, get.filter(|_| !self.is_leaving(namespace, None)))
    }

    /// Gives a controller back what it lacks, to go on with an object; `None` if nothing is known to. `start` is what
    /// it means to start it.
    fn give(self, lack: &Lack, object: ObjectId, start: Step) -> Option<Remedy> {
        let snapshot = self.snapshot;
        let create = |what: &str, name: &str| self.kubectl.verb("create").args([what, name]);
        let named = |workload: ObjectId| self.name(workload, Some(object));
        Some(match lack {
            Lack::Account { workload, account: (place, name) } => {
                let restart = self.kubectl.verb("rollout").arg("restart");
                let restart = self.word(*workload).and_then(|word| restart.arg(word).in_namespace(place));
                let anew = create("serviceaccount", name).in_namespace(place).zip(restart);
                let what = format!(
                    "make ServiceAccount/{name} -n {place} again, and restart {}, best by its installer",
                    named(*workload)
                );
                Step::Heal.by(what, anew.map(|(account, restart)| account.and(restart)))
            }
            Lack::Right { account: (place, name), verbs, resource } => {
                // No role that is there: its rules may give more, to whom it was not meant for.
                let plural = resource.split(['.', '/']).next().unwrap_or_default();
                let new = format!("{name}-{plural}");
                let bind = [format!("--clusterrole={new}"), format!("--serviceaccount={place}:{name}")];
                let bind = create("clusterrolebinding", &new).args(bind);
                let role =
                    create("clusterrole", &new).args([format!("--verb={verbs}"), format!("--resource={resource}")]);
                let what = format!("give {place}/{name} that right back, best by its installer");
                Step::Heal.by(what, [role.and(bind)]).deciding(true)
            }
            // Whoever may write a status or an Event may have written that.
            Lack::Refused { account: (place, name), verb, resource } => {
                let namespace = snapshot.namespace(object);
                let (resource, below) = resource.split_once('/').unwrap_or((resource, ""));
                let can = self.kubectl.verb("auth").args(["can-i", verb, resource]).in_namespace(namespace);
                let can = can.map(|can| can.arg(format!("--as=system:serviceaccount:{place}:{name}")));
                let can = can.map(|can| if below.is_empty() { can } else { can.arg(format!("--subresource={below}")) });
                let what = format!("see whether {place}/{name} has that right: if not, its installer gives it back");
                Step::Look.by(what, can)
            }
            Lack::Object(needed) => self.make_missing(needed, "its controller then goes on"),
            Lack::Scope(workload) => {
                let what =
                    format!("let {} handle it, too, best by its installer. See what limits it", named(*workload));
                Step::Heal.by(what, self.about("describe", *workload))
            }
            Lack::Pods { workload, idle: true, .. } => {
                let what = format!("start {}, if that is its controller", named(*workload));
                let scale = self.scale_up(*workload);
                let scale = scale.filter(|_| !self.is_leaving(snapshot.namespace(*workload), Some(*workload)));
                start.by(what, scale).deciding(true)
            }
            Lack::Pods { workload, .. } => {
                let what = format!("see why {} has no ready pod", named(*workload));
                Step::Look.by(what, self.about("describe", *workload))
            }
            Lack::Workloads(_) => return None,
        })
    }
}
