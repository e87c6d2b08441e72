//! Checks raw arguments and turns them into configuration.

use std::sync::Arc;

use crate::{
    operations::targets::{TargetArgs, TargetQuery},
    operations::{ClusterConfig, Opening, OperationError, ReadScope, Session, SourceConfig, TargetConfig, usage},
    render::picture::ObjectCommands,
};
use gc_cluster::{cluster::ReadEvent, dump::MAX_INPUT};
use gc_core::{
    command_line::{Kubectl, ShellCommand, option_words},
    model::{Origin, ServerVersion},
    url,
};

use super::{
    args::{GlobalArgs, SourceArgs},
    connection::ConnectionArgs,
    progress::ReadProgress,
};

impl SourceArgs {
    /// # Errors
    /// Standard input is to be both a source and a manifest.
    pub(super) fn leave_stdin_to(&self, targets: &TargetArgs) -> Result<(), OperationError> {
        match self.from.iter().any(|from| from == "-") && targets.filenames.iter().any(|file| file == "-") {
            true => usage("standard input cannot be both --from and -f: use a file for one of them"),
            false => Ok(()),
        }
    }

    /// The flags that name the files, with their values.
    pub(super) fn options(&self) -> Vec<(&'static str, String)> {
        let from = self.from.iter().map(|from| ("--from", from.clone()));
        let is_given = self.max_input != MAX_INPUT && !self.from.is_empty();
        from.chain(is_given.then(|| ("--max-input", self.max_input.to_string()))).collect()
    }
}

impl GlobalArgs {
    /// The commands that show an object of the source.
    pub(super) fn object_commands(&self) -> ObjectCommands {
        if self.source.from.is_empty() {
            return ObjectCommands::of_cluster(&self.connection.kubectl());
        }
        ObjectCommands::new(self.kubectl().plugin("explain"), None)
    }

    /// kubectl for the source: a dump's cluster is unknown, so only its files are named.
    pub(super) fn kubectl(&self) -> Kubectl {
        let source = &self.source;
        if source.from.is_empty() {
            return self.connection.kubectl();
        }
        let flags = source.options().into_iter().flat_map(|(flag, value)| option_words(flag, &value));
        let complete = source.assume_complete.then(|| "--assume-complete".to_owned());
        Kubectl::default().reading(flags.chain(complete).collect())
    }

    /// # Errors
    /// Invalid connection flags.
    pub(super) fn cluster(&self) -> Result<ClusterConfig, OperationError> {
        let options = self.connection.options()?;
        let progress = ReadProgress::new(self.connection.verbosity, self.color, self.warnings.clone());
        Ok(ClusterConfig {
            options,
            namespace: self.connection.namespace().map(str::to_owned),
            match_server_version: self.connection.match_server_version,
            observer: Some(Arc::new(move |event| progress.hear(event))),
        })
    }

    /// The files of `--from`, or the cluster.
    ///
    /// # Errors
    /// Invalid flags; connection flags are checked even if no connection is opened.
    pub(super) fn source(&self) -> Result<SourceConfig, OperationError> {
        let (source, cluster) = (&self.source, self.cluster()?);
        if source.from.iter().any(String::is_empty) {
            return usage("--from is empty: give a file, a folder, a URL or -");
        }
        // What is printed and written names the source.
        if source.from.iter().any(|from| url::is_fetched(from) && url::without_password(from) != *from) {
            return usage("--from takes no URL with a password: give what is there as standard input, with --from -");
        }
        Ok(match source.from.is_empty() {
            true => SourceConfig::Cluster(Box::new(cluster)),
            false => SourceConfig::Dump {
                paths: source.from.clone(),
                assume_complete: source.assume_complete,
                max_input: source.max_input,
            },
        })
    }

    /// Reads the manifests of `-f`.
    ///
    /// # Errors
    /// Invalid arguments, or manifests that can't be read.
    pub(super) fn targets(&self, args: &TargetArgs) -> Result<TargetConfig, OperationError> {
        // As in kubectl, --all-namespaces overrides --namespace.
        let namespace = self.connection.namespace().filter(|_| !args.all_namespaces);
        Ok(TargetConfig {
            query: TargetQuery::parse(args)?,
            namespace: namespace.map(str::to_owned),
            all_namespaces: args.all_namespaces,
            ignore_not_found: args.ignore_not_found,
        })
    }

    /// The source and the targets.
    ///
    /// # Errors
    /// Invalid arguments.
    pub(super) fn configuration(&self, targets: &TargetArgs) -> Result<(SourceConfig, TargetConfig), OperationError> {
        self.source.leave_stdin_to(targets)?;
        Ok((self.source()?, self.targets(targets)?))
    }

    /// Checks the arguments and reads what a command on these targets needs.
    ///
    /// # Errors
    /// Invalid arguments, or nothing could be read.
    pub(super) fn open(&self, targets: &TargetArgs, scope: ReadScope) -> Result<Box<Session>, OperationError> {
        let (source, targets) = self.configuration(targets)?;
        self.opening(&source, &targets, scope)?.read(&targets, scope)
    }

    /// Without targets, a sweep and doctor look at the whole cluster, whatever the kubeconfig's namespace; only an
    /// explicit `-n` limits that.
    pub(super) fn scope_of(&self, targets: &TargetArgs) -> TargetArgs {
        let anything = !targets.any() && self.connection.namespace().is_none();
        TargetArgs { all_namespaces: targets.all_namespaces || anything, ..targets.clone() }
    }

    /// A command about these targets.
    pub(super) fn same(&self, verb: &'static str, targets: &TargetArgs, probe: bool) -> ShellCommand {
        let source = &self.source;
        let kubectl = if source.from.is_empty() { self.connection.kubectl() } else { Kubectl::default() };
        let files = targets.filenames.iter().map(|file| ("-f", file.as_str()));
        let files = files.chain(targets.kustomize.iter().map(|folder| ("-k", folder.as_str())));
        let selectors = [("-l", &targets.selector), ("--field-selector", &targets.field_selector)];
        let selectors = selectors.into_iter().filter_map(|(flag, value)| Some((flag, value.as_deref()?)));
        let namespace = self.connection.namespace().map(|namespace| ("-n", namespace));
        let read = source.options();
        let read = read.iter().map(|(flag, value)| (*flag, value.as_str()));
        let options = files.chain(selectors).chain(namespace).chain(read);
        let command = options.fold(kubectl.plugin(verb), |command, (flag, value)| command.option(flag, value));
        let given = [
            (targets.all, "--all"),
            (targets.recursive, "-R"),
            (targets.all_namespaces, "-A"),
            (source.assume_complete, "--assume-complete"),
            (probe, "--probe"),
        ];
        command.args(given.into_iter().filter_map(|(given, flag)| given.then_some(flag))).operands(&targets.targets)
    }

    /// kubectl with the flags for the examined cluster; a snapshot file records its context.
    pub(super) fn held_to(&self, session: &Session) -> Kubectl {
        let Origin::Cluster { context, .. } = &session.snapshot.origin else { return Kubectl::default() };
        let chosen = if session.is_live() { &self.connection } else { &ConnectionArgs::default() };
        chosen.kubectl_in(context)
    }

    /// Opens a source for what a command on these targets reads. Says so if a snapshot file is of a server whose
    /// version was not tested, as a connection does.
    ///
    /// # Errors
    /// Why the source can't be used.
    pub(super) fn opening(
        &self,
        source: &SourceConfig,
        targets: &TargetConfig,
        scope: ReadScope,
    ) -> Result<Opening, OperationError> {
        let opening = Opening::of(source, targets, scope)?;
        if let (Opening::Dump(snapshot), Some(observer)) = (&opening, self.cluster()?.observer)
            && let Some(warning) = snapshot.resources.server().and_then(ServerVersion::warning)
        {
            observer(ReadEvent::Untested(&warning));
        }
        Ok(opening)
    }
}
