//! `kubectl gc restore`

use std::{
    collections::BTreeSet,
    io::{self, Write as _},
};

use serde_json::Value;

use crate::{
    act::{Access, Mode, restore, review},
    archive::{Archive, ArchiveError, Header, LeftOut},
    cluster::Connection,
    model::{Gap, Mapping, Resources},
    operations::{Discovered, OperationError, live::Cluster},
    render::{document, go_quote::visible, restore::RestoreView, style::Style},
    restore::{Item, Outcome, RestorePlan, Restored, ToDo},
    wording::{count, shell_word},
};

use super::{
    args::{DocumentFormat, DryRunArg, GlobalArgs, RestoreArgs},
    colour,
    exit::Exit,
    progress::Steps,
    prompt::{self, can_ask, is_yes},
    report::{Report, terminal_width},
    tree::in_memory,
};

/// Brings back what an archive holds.
pub fn run(global: &GlobalArgs, args: &RestoreArgs) -> Result<Report, OperationError> {
    // What is wrong with the file shows before anything else is looked at.
    let archive = Archive::open(&args.archive)?;
    let objects: Vec<Value> = archive.objects()?.collect::<Result<_, ArchiveError>>()?;
    let plan =
        RestorePlan::new(objects, args.all).map_err(|malformed| OperationError::Refusal(malformed.to_string()))?;
    let Discovered { cluster: live, resources, gaps } = Discovered::connect(&global.cluster()?)?;
    let again = again(global, args);
    let run = Restore { global, args, header: archive.header(), plan, live, resources, gaps, again };
    run.run()
}

/// The command that does the same again, to the same cluster.
fn again(global: &GlobalArgs, args: &RestoreArgs) -> String {
    let all = if args.all { " --all" } else { "" };
    let kubectl = global.connection.kubectl();
    format!("{kubectl} gc restore {}{all}", shell_word(&args.archive.display().to_string()))
}

struct Restore<'a> {
    global: &'a GlobalArgs,
    args: &'a RestoreArgs,
    header: &'a Header,
    plan: RestorePlan,
    live: Cluster,
    /// What is served before anything is created.
    resources: Resources,
    gaps: Vec<Gap>,
    again: String,
}

impl Restore<'_> {
    fn run(&self) -> Result<Report, OperationError> {
        match self.args.consent.dry_run {
            DryRunArg::Client => self.report(Mode::Foreseen, &self.go(Mode::Foreseen, false)),
            DryRunArg::Server => self.report(Mode::Judged, &self.go(Mode::Judged, false)),
            DryRunArg::None => {
                let foreseen = self.go(Mode::Foreseen, false);
                let unknown = self.check_access(&foreseen)?;
                if !self.args.consent.yes {
                    self.ask(&foreseen)?;
                }
                let mut report = self.report(Mode::Earnest, &self.go(Mode::Earnest, true))?;
                report.notes.extend(unknown);
                Ok(report)
            }
        }
    }

    fn go(&self, mode: Mode, tell: bool) -> Vec<Restored> {
        let mut steps = Steps::new("Restoring", self.plan.steps.iter().map(Vec::len).sum(), tell);
        let connection = &self.live.connection;
        let mut describe = |_: usize, _: &Restored| steps.step();
        let restored = restore(connection, &self.plan, self.resources.clone(), mode, &mut describe);
        self.live.runtime.block_on(restored)
    }

    /// Says why it is not known whether all may be done, where it isn't.
    ///
    /// # Errors
    /// Where the API server would forbid any of what is to be created, all of which is told at once.
    fn check_access(&self, foreseen: &[Restored]) -> Result<Option<String>, OperationError> {
        // What the archive itself defines is served by the time it is needed.
        let served = self.resources.iter().map(|(_, resource)| resource.clone());
        let defined = self.plan.items.iter().flat_map(Item::defines);
        let resources = Resources::new(served.chain(defined).collect(), self.resources.preferred_versions().to_vec());
        let wanted = wanted(&self.plan, &resources, foreseen);
        let verdicts = self.live.runtime.block_on(review(&self.live.connection, &resources, &wanted));
        match verdicts.forbidden(&resources) {
            None => Ok(verdicts
                .unknown
                .map(|why| format!("Whether you may do this could not be found out beforehand ({why})."))),
            Some(forbidden) => Err(OperationError::Refusal(format!("nothing was restored: you may not {forbidden}"))),
        }
    }

    /// Shows what would be done, and asks whether it is to be.
    ///
    /// # Errors
    /// Where the answer is no, or there is nobody to answer.
    fn ask(&self, foreseen: &[Restored]) -> Result<(), OperationError> {
        let create = foreseen.iter().filter(|restored| restored.outcome == Outcome::Foreseen).count();
        let complete = foreseen.iter().filter(|restored| restored.to_do != ToDo::default()).count();
        if create + complete == 0 {
            // Nothing will be written.
            return Ok(());
        }
        if !can_ask() {
            let why =
                "nothing was restored: there is no terminal to ask on; give --yes if it is to be done without asking";
            return Err(OperationError::Refusal(why.to_owned()));
        }
        let style = Style::new(colour::wanted(self.global.color, &io::stderr()));
        let text = self.text(Mode::Foreseen, foreseen, &style)?;
        io::stderr().write_all(&text).and_then(|()| io::stderr().write_all(b"\n")).map_err(OperationError::Print)?;
        let place = place(&self.live.connection);
        let what = match create {
            0 => format!("Complete {} that an earlier restore has created", count(complete, "object", "objects")),
            _ => format!("Create {}", count(create, "object", "objects")),
        };
        let prompt = format!("{what} in {place}? [y/N]");
        match is_yes(&prompt::line(&visible(&prompt))) {
            true => Ok(()),
            false => Err(OperationError::Refusal("nothing was restored: that was no yes".to_owned())),
        }
    }

    fn report(&self, mode: Mode, restored: &[Restored]) -> Result<Report, OperationError> {
        let view = self.view(mode, restored);
        let data = match self.args.output {
            Some(DocumentFormat::Json) => document::json(&view.document()).into_bytes(),
            Some(DocumentFormat::Yaml) => document::yaml(&view.document()).into_bytes(),
            None => self.text(mode, restored, &Style::new(colour::wanted(self.global.color, &io::stdout())))?,
        };
        let mut report = Report::of(data).with_gaps(&self.gaps);
        report.notes.extend(self.not_archived());
        if !view.is_fine() {
            report.exit = Exit::BadNews;
        }
        Ok(report)
    }

    fn view<'a>(&'a self, mode: Mode, restored: &'a [Restored]) -> RestoreView<'a> {
        let (resources, gaps, again) = (&self.resources, &self.gaps, self.again.as_str());
        RestoreView { plan: &self.plan, restored, mode, resources, gaps, again }
    }

    fn text(&self, mode: Mode, restored: &[Restored], style: &Style) -> Result<Vec<u8>, OperationError> {
        let nothing = if mode == Mode::Earnest { "" } else { " Nothing was changed." };
        let mut heading = place(&self.live.connection);
        heading[..1].make_ascii_uppercase();
        let mut out = format!("{}.{nothing}\n{}\n\n", visible(&heading), visible(&self.origin())).into_bytes();
        self.view(mode, restored).write(terminal_width(), style, &mut out).map_err(in_memory)?;
        Ok(out)
    }

    /// What the archive says that it lacks.
    fn not_archived(&self) -> impl Iterator<Item = String> + '_ {
        let Header { gaps, gone, left_out, .. } = self.header;
        let gaps = gaps
            .iter()
            .map(|gap| format!("{gap} could not be read when it was archived: what is missing of it can't come back."));
        let gone =
            gone.iter().map(|object| format!("{}/{} was gone already when it was archived.", object.kind, object.name));
        let left_out = left_out.iter().map(|LeftOut { resource, namespace, why }| match namespace {
            Some(namespace) => format!("{resource} in namespace {namespace} were not archived: {why}."),
            None => format!("{resource} were not archived: {why}."),
        });
        gaps.chain(gone).chain(left_out)
    }

    /// Where the archive is from.
    fn origin(&self) -> String {
        let Header { context, server, time, .. } = self.header;
        let file = self.args.archive.display();
        let objects = count(self.plan.items.len(), "object", "objects");
        let endpoint = self.live.connection.endpoint();
        let from = match *server == endpoint.server || server.is_empty() {
            true => String::new(),
            false => format!(" from another cluster: context {context} ({server})"),
        };
        format!("Archive {file}: {objects}, archived {time}{from}.")
    }
}

/// What will be sent: whether each object is there, and, for what was foreseen of it, the object and what is patched
/// beside it.
fn wanted(plan: &RestorePlan, resources: &Resources, foreseen: &[Restored]) -> BTreeSet<Access> {
    let mut wanted = BTreeSet::new();
    for (id, (item, restored)) in plan.items.iter().zip(foreseen).enumerate() {
        let place = &item.archived.place;
        let Mapping::Served(resource) = resources.map(&place.api_version, &place.kind) else { continue };
        if restored.is_left_out() {
            continue;
        }
        let mut want = |verb, subresource| {
            let (namespace, name) = (place.namespace.clone(), String::new());
            wanted.insert(Access { verb, resource, subresource, namespace, name });
        };
        want("get", "");
        // Where it can't be told whether it is there, it may have to be created.
        let create = matches!(restored.outcome, Outcome::Foreseen | Outcome::Failed(_) | Outcome::Blocked(_));
        let closes = plan.closing.range((id, 0)..=(id, usize::MAX)).next().is_some();
        if create {
            want("create", "");
        }
        if create && closes || restored.to_do.references {
            want("patch", "");
        }
        if create && item.status.is_some() && resources.get(resource).has_status || restored.to_do.status {
            want("patch", "status");
        }
    }
    wanted
}

/// `context prod-eu (api.prod-eu:6443)`
fn place(connection: &Connection) -> String {
    let endpoint = connection.endpoint();
    match endpoint.context.as_str() {
        "" => format!("server {}", endpoint.server),
        context => format!("context {context} ({})", endpoint.server),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use serde_json::json;

    use super::*;
    use crate::cli::args::{Cli, Command};

    #[test]
    fn what_is_to_be_done_again_goes_to_the_same_cluster() {
        let said = ["kubectl-gc", "restore", "my shop.yaml", "--all", "--context=prod", "--yes"];
        let cli = Cli::parse_from(said);
        let Command::Restore(args) = &cli.command else { panic!("{said:?}") };
        assert_eq!(again(&cli.global, args), "kubectl --context=prod gc restore 'my shop.yaml' --all");
    }
    /// The kinds `Plain` and, with a status subresource, `Rich`.
    fn kinds() -> Resources {
        let kind = |kind: &str, has_status| crate::model::Resource {
            group: "acme.io".to_owned(),
            version: "v1".to_owned(),
            plural: kind.to_lowercase(),
            kind: kind.to_owned(),
            namespaced: true,
            has_status,
            ..Default::default()
        };
        Resources::new(vec![kind("Plain", false), kind("Rich", true)], Vec::new())
    }

    fn describe(plan: &RestorePlan, foreseen: &[Restored]) -> Vec<String> {
        let kinds = kinds();
        wanted(plan, &kinds, foreseen).iter().map(|access| access.describe(&kinds)).collect()
    }

    fn object(kind: &str, owners: &[&str]) -> Value {
        let references =
            owners.iter().map(|owner| json!({"apiVersion": "acme.io/v1", "kind": owner, "name": "a", "uid": owner}));
        let references: Vec<Value> = references.collect();
        json!({"apiVersion": "acme.io/v1", "kind": kind, "status": {"a": 1},
               "metadata": {"name": "a", "namespace": "shop", "uid": kind, "ownerReferences": references}})
    }

    #[test]
    fn whoever_restores_may_patch_only_what_is_patched() {
        let absent = || Restored::absent(Outcome::Foreseen);
        let plan = RestorePlan::new([object("Plain", &[]), object("Rich", &[])], false).unwrap();
        assert_eq!(
            describe(&plan, &[absent(), absent()]),
            [
                "create plain.acme.io in namespace shop",
                "create rich.acme.io in namespace shop",
                "get plain.acme.io in namespace shop",
                "get rich.acme.io in namespace shop",
                "patch rich.acme.io/status in namespace shop",
            ]
        );
        // One of a circle is patched when the other is there.
        let circle = RestorePlan::new([object("Plain", &["Rich"]), object("Rich", &["Plain"])], false).unwrap();
        let closes = if circle.closing.contains(&(0, 0)) { "plain" } else { "rich" };
        let patches = |foreseen: &[Restored]| -> Vec<String> {
            describe(&circle, foreseen).into_iter().filter(|access| access.starts_with("patch")).collect()
        };
        let closed = format!("patch {closes}.acme.io in namespace shop");
        assert!(patches(&[absent(), absent()]).contains(&closed));
        // What an earlier run has done is not done again.
        let back = |to_do| Restored { to_do, ..Restored::absent(Outcome::AlreadyBack) };
        assert_eq!(patches(&[back(ToDo::default()), back(ToDo::default())]), [""; 0]);
        let left = back(ToDo { status: true, references: true });
        assert_eq!(
            patches(&[back(ToDo::default()), left]),
            ["patch rich.acme.io in namespace shop", "patch rich.acme.io/status in namespace shop"]
        );
    }
}
