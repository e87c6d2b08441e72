//! `kubectl gc plan --apply`: what the collector would delete at once if a file were applied.

use crate::{
    operations::{
        Opening, OperationError, ReadScope, Session, TargetConfig,
        apply::{FileFormat, fixed, predict_apply},
        manifests::ManifestFile,
        targets::{TargetArgs, TargetError},
        usage,
    },
    render::{
        apply::{ApplyView, mended, refused},
        output::Format,
    },
};
use gc_core::{
    apply::{ApplyPlan, Arrival, ManifestObject, Mend, Mending, Standing, mends},
    command_line::{Kubectl, ShellCommand},
    graph::OwnerGraph,
    model::{Mapping, Resources},
    plan::VerdictResult,
    wording::count,
};

use super::{
    args::{GlobalArgs, PlanArgs, SourceArgs},
    output::Printer,
    report::{Exit, Report, heading},
};

/// The namespace of objects in a dump that name none, as in a kubeconfig that names none.
const DEFAULT_NAMESPACE: &str = "default";

/// Predicts an apply, or prints the file with its owner references mended.
pub(super) fn run(global: &GlobalArgs, args: &PlanArgs) -> Result<Report, OperationError> {
    check(global, args)?;
    let TargetArgs { filenames, kustomize, recursive, .. } = &args.targets;
    let files = ManifestFile::read(filenames, kustomize.as_deref(), *recursive).map_err(TargetError::from)?;
    let source = global.source()?;
    let everything = TargetConfig::scope(None);
    let opening = global.opening(&source, &everything, ReadScope::Diagnosis)?;
    let objects: Vec<ManifestObject> =
        files.iter().flat_map(ManifestFile::objects).map(|found| found.object.clone()).collect();
    let explicit = global.connection.namespace();
    check_namespaces(&objects, opening.resources(), explicit)?;
    let namespace = explicit.map(str::to_owned);
    let namespace = namespace.unwrap_or_else(|| match &opening {
        Opening::Cluster(discovered) => discovered.namespace(),
        Opening::Dump(_) => DEFAULT_NAMESPACE.to_owned(),
    });
    let mut session = opening.read(&everything, ReadScope::Diagnosis)?;
    let apply = predict_apply(&mut session, &objects, &namespace, args.assumed.assume);
    let done =
        Done { global, args, files, objects: objects.iter().collect(), namespace, mendings: mends(&apply, &objects) };
    if args.apply.fix { done.fix(&apply) } else { done.tell(&session, &apply) }
}

/// What clap can't check.
fn check(global: &GlobalArgs, args: &PlanArgs) -> Result<(), OperationError> {
    if !args.targets.names_manifests() {
        return usage("--apply needs a file: -f FILE, a folder, -f - or -k FOLDER");
    }
    global.source.leave_stdin_to(&args.targets)?;
    match (args.apply.fix, global.printing.output) {
        (true, None | Some(Format::Yaml | Format::Json)) => Ok(()),
        (true, Some(_)) => usage("--fix prints a file: -o yaml or -o json"),
        (false, Some(format)) if format.draws() => {
            usage(format!("--apply has no pictures: -o {} shows deletes only", format.name()))
        }
        (false, _) => Ok(()),
    }
}

/// As in kubectl, no object may be in another namespace than `-n` says.
fn check_namespaces(
    objects: &[ManifestObject],
    resources: &Resources,
    explicit: Option<&str>,
) -> Result<(), OperationError> {
    let Some(explicit) = explicit else { return Ok(()) };
    let namespaced = |object: &ManifestObject| match resources.map(&object.api_version, &object.kind) {
        Mapping::Served(resource) => resources.get(resource).namespaced,
        _ => true,
    };
    let is_elsewhere =
        |object: &&ManifestObject| !object.namespace.is_empty() && object.namespace != explicit && namespaced(object);
    match objects.iter().find(is_elsewhere) {
        Some(object) => {
            Err(TargetError::other_namespace(&object.place, &object.name, &object.namespace, explicit).into())
        }
        None => Ok(()),
    }
}

/// A prediction that was made.
struct Done<'a> {
    global: &'a GlobalArgs,
    args: &'a PlanArgs,
    files: Vec<ManifestFile>,
    objects: Vec<&'a ManifestObject>,
    /// Where objects without a namespace go.
    namespace: String,
    mendings: Vec<Mending>,
}

impl Done<'_> {
    fn view<'v>(&'v self, apply: &'v ApplyPlan, graph: &'v OwnerGraph, fix: &'v ShellCommand) -> ApplyView<'v> {
        ApplyView { apply, objects: &self.objects, mendings: &self.mendings, graph, namespace: &self.namespace, fix }
    }

    /// The command that prints the mended file.
    fn fix_command(&self, global: &GlobalArgs) -> ShellCommand {
        global.same("plan", &self.args.targets, false).flags(&["--apply", "--fix"])
    }

    /// Prints what would happen.
    fn tell(&self, session: &Session, apply: &ApplyPlan) -> Result<Report, OperationError> {
        let snapshot = &session.snapshot;
        let graph = OwnerGraph::new(&apply.scene.snapshot);
        let fix = self.fix_command(self.global);
        let view = self.view(apply, &graph, &fix);
        let heading = || heading(snapshot, None, &self.global.source.from, " Nothing was changed.");
        let out = Printer::of_plan(self.global, false).print(&view, heading)?;
        let mut report = Report::of(out).with_gaps(&snapshot.gaps);
        report.notes.extend(self.about_namespace());
        if self.is_bad(apply) {
            report.exit = Exit::BadNews;
        }
        Ok(report)
    }

    /// Whether anything is lost or refused, or with `--fail-on=unsure` unknown.
    fn is_bad(&self, apply: &ApplyPlan) -> bool {
        let (counts, gates) = (apply.counts(), &self.args.gates);
        let lost = counts.lost() + counts.others + counts.refused > 0;
        lost && gates.fails_at(VerdictResult::Refused) || !apply.certain() && gates.fails_at(VerdictResult::Unsure)
    }

    /// Prints the mended file. Everything else goes to standard error.
    fn fix(&self, apply: &ApplyPlan) -> Result<Report, OperationError> {
        let all_json = self.files.iter().all(|file| file.json);
        let format = match self.global.printing.output {
            Some(Format::Json) => FileFormat::Json,
            Some(_) => FileFormat::Yaml,
            None if all_json => FileFormat::Json,
            None => FileFormat::Yaml,
        };
        let fixed = fixed(&self.files, &self.mendings, format);
        let graph = OwnerGraph::new(&apply.scene.snapshot);
        let fix = self.fix_command(self.global);
        let view = self.view(apply, &graph, &fix);
        let mut report = Report::of(fixed.text);
        report.notes.extend(mended(&view));
        report.notes.extend(fixed.notes);
        report.notes.extend(self.about_namespace());
        let is_for_now = |mend: &&Mend| **mend == Mend::RemoveForNow;
        let later = self.mendings.iter().flat_map(|mending| &mending.references).filter(is_for_now).count();
        if later > 0 {
            report.notes.push(format!(
                "{} removed for now, because the file creates the owners. Apply the mended file, then put them back \
                 from the original file: {}",
                count(later, "reference was", "references were"),
                self.second_step()
            ));
        }
        let refused = refused(&view, apply);
        let unknown: Vec<String> = unread(&view, apply);
        if !refused.is_empty() || !unknown.is_empty() {
            report.exit = Exit::BadNews;
        }
        report.notes.extend(refused);
        report.notes.extend(unknown);
        Ok(report)
    }

    /// The command that puts back the references to owners that the file creates.
    fn second_step(&self) -> ShellCommand {
        let kubectl: Kubectl = self.global.connection.kubectl();
        let mut apply = kubectl.verb("apply");
        if let Some(namespace) = self.global.connection.namespace() {
            apply = apply.option("-n", namespace);
        }
        let live = GlobalArgs { source: SourceArgs::default(), ..self.global.clone() };
        self.fix_command(&live).syntax("|").command(apply.args(["-f", "-"]))
    }

    /// A dump doesn't say which namespace a kubeconfig would choose.
    fn about_namespace(&self) -> Option<String> {
        let assumed = !self.global.source.from.is_empty() && self.global.connection.namespace().is_none();
        let without = |object: &&&ManifestObject| object.namespace.is_empty();
        (assumed && self.objects.iter().any(|object| without(&object))).then(|| {
            format!(
                "note: objects without a namespace are taken to go into namespace {}; -n chooses another",
                self.namespace
            )
        })
    }
}

/// What could not be mended because it could not be read, one line for each object.
fn unread(view: &ApplyView<'_>, apply: &ApplyPlan) -> Vec<String> {
    let mut lines = Vec::new();
    for (object, written) in apply.objects.iter().zip(view.objects) {
        let unread = object.standings.contains(&Standing::Unread);
        if let Arrival::Unknown(why) = &object.placed.arrival {
            lines.push(format!("{}: unknown: {why}.", written.short_name()));
        } else if unread {
            lines.push(format!(
                "{}: references whose owners could not be read were left as they are.",
                written.short_name()
            ));
        }
    }
    lines
}
