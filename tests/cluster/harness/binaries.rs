//! Finds or builds the programs of the control plane.

use std::{
    env, fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use super::go_build;

/// A folder with ready-made programs. envtest reads this variable, too.
const ASSETS: &str = "KUBEBUILDER_ASSETS";

const ETCD: &str = "etcd";
const API_SERVER: &str = "kube-apiserver";
const CONTROLLER_MANAGER: &str = "kube-controller-manager";

/// Paths of the three programs.
#[derive(Clone, Debug)]
pub struct Binaries {
    pub etcd: PathBuf,
    pub api_server: PathBuf,
    pub controller_manager: PathBuf,
}

impl Binaries {
    /// The programs' names, and their folders in the Go module.
    pub const NAMES: [&str; 3] = [ETCD, API_SERVER, CONTROLLER_MANAGER];

    /// Finds the programs, or builds them first: of the version that the user names, else those in the folder that the
    /// user names, else of the newest version. Keeps a failure: every other test would only fail minutes later with the
    /// same error.
    pub fn find() -> Result<Self, String> {
        static FOUND: LazyLock<Result<Binaries, String>> = LazyLock::new(|| {
            let version = env::var(go_build::VERSION).unwrap_or_default();
            match env::var_os(ASSETS) {
                Some(folder) if version.is_empty() && !folder.is_empty() => Binaries::given(Path::new(&folder)),
                _ => go_build::build(&version).map(|folder| Binaries::of(&folder)),
            }
        });
        FOUND.clone()
    }

    /// The programs in a folder that the user names. Doesn't build a missing one, because that would hide a mistake.
    fn given(folder: &Path) -> Result<Self, String> {
        let missing: Vec<&str> = Self::NAMES.into_iter().filter(|name| !is_file(&folder.join(name))).collect();
        if missing.is_empty() {
            return Ok(Self::of(folder));
        }
        Err(format!(
            "{ASSETS} is set to {}, which does not hold {}. The tests need all of {}; unset {ASSETS} to have them \
                built.",
            folder.display(),
            missing.join(", "),
            Self::NAMES.join(", "),
        ))
    }

    fn of(folder: &Path) -> Self {
        Self {
            etcd: folder.join(ETCD),
            api_server: folder.join(API_SERVER),
            controller_manager: folder.join(CONTROLLER_MANAGER),
        }
    }
}

fn is_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
}

#[test]
fn a_folder_without_all_programs_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(ETCD), "").unwrap();
    let error = Binaries::given(folder.path()).unwrap_err();
    assert!(error.contains("does not hold kube-apiserver, kube-controller-manager."), "{error}");
}
