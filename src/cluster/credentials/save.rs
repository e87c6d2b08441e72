//! Saves refreshed tokens in the kubeconfig from which the user comes, as kubectl does (client-go's `ModifyConfig`).

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Write as _},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use kube::config::Kubeconfig;
use serde_json::Value;

use super::{super::kubeconfig::Origin, oidc::Settings};

/// How long another process may hold the lock; kubectl holds it for milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long another process of this program may take to refresh the tokens.
const OTHERS: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(50);
/// Why a kubeconfig can't be written anew.
const NOT_UNDERSTOOD: &str = "its format is not understood";
/// The tokens that are saved; all other settings stay.
const TOKENS: [&str; 2] = ["id-token", "refresh-token"];

/// A kubeconfig file that no other kubectl writes, until this is dropped.
pub(super) struct Saved {
    origin: Origin,
    text: String,
    lock: PathBuf,
}

/// Keeps other processes of this program from refreshing the same tokens: refresh tokens are often valid only once. The
/// operating system takes the lock back if the process ends.
pub(super) struct Alone {
    _file: File,
}

impl Alone {
    /// Waits for its turn. A file system without locks doesn't stop it.
    pub(super) fn wait(origin: &Origin) -> Result<Self, String> {
        let file = File::open(&origin.file).map_err(|error| format!("{}: {error}", origin.file.display()))?;
        let begun = Instant::now();
        while let Err(TryLockError::WouldBlock) = file.try_lock() {
            if begun.elapsed() >= OTHERS {
                let file = origin.file.display();
                return Err(format!("another process refreshes the tokens in {file}, and does not come to an end"));
            }
            thread::sleep(PAUSE);
        }
        Ok(Alone { _file: file })
    }
}

impl Drop for Saved {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.lock);
    }
}

impl Saved {
    /// Locks the file and reads it. Nothing is spent if that fails.
    pub(super) fn lock(origin: &Origin) -> Result<Self, String> {
        // kubectl appends to the name as it is given, so the link and not its target.
        let mut lock = origin.file.clone().into_os_string();
        lock.push(".lock");
        let lock = PathBuf::from(lock);
        let begun = Instant::now();
        while let Err(error) = OpenOptions::new().write(true).create_new(true).open(&lock) {
            let cannot = "the new tokens could not be saved";
            if error.kind() != io::ErrorKind::AlreadyExists {
                return Err(format!("{cannot}, because {} cannot be created: {error}", lock.display()));
            }
            if begun.elapsed() >= PATIENCE {
                let lock = lock.display();
                return Err(format!("{cannot}, because {lock} exists: remove it if no other kubectl is running"));
            }
            thread::sleep(PAUSE);
        }
        // From here on, the lock goes with the value.
        let mut saved = Saved { origin: origin.clone(), text: String::new(), lock };
        saved.text = fs::read_to_string(&origin.file).map_err(|error| format!("{}: {error}", origin.file.display()))?;
        Ok(saved)
    }

    /// Checks that new tokens could be written: spent is spent.
    pub(super) fn check(&self, old: &Settings) -> Result<(), String> {
        let mut new = old.clone();
        new.extend(TOKENS.map(|name| (name.to_owned(), format!("new-{name}"))));
        self.rewritten(&new).map(drop).ok_or_else(|| self.failed(NOT_UNDERSTOOD))
    }

    /// The user's settings in the file.
    pub(super) fn settings(&self) -> Result<Settings, String> {
        let mut document = document(&self.text);
        let settings = document.as_mut().and_then(|document| settings_of(document, &self.origin.user));
        let settings = settings.and_then(|settings| serde_json::from_value(settings.take()).ok());
        settings.ok_or_else(|| {
            let (file, user) = (self.origin.file.display(), &self.origin.user);
            format!("the new tokens could not be saved: {file} has no OpenID settings of user {user:?} any more")
        })
    }

    /// Replaces the tokens in the file, and nothing else in it.
    pub(super) fn write(&self, old: &Settings, new: &Settings) -> Result<(), String> {
        let text = self.replaced(old, new).or_else(|| self.rewritten(new));
        let text = text.ok_or_else(|| self.failed(NOT_UNDERSTOOD))?;
        replace(&self.origin.file, text.as_bytes()).map_err(|error| self.failed(&error.to_string()))
    }

    fn failed(&self, reason: &str) -> String {
        format!("the new tokens could not be saved in {}: {reason}", self.origin.file.display())
    }

    /// The text with the tokens replaced where they stand: comments and order stay.
    fn replaced(&self, old: &Settings, new: &Settings) -> Option<String> {
        let mut text = self.text.clone();
        for name in TOKENS {
            let (old, new) = (old.get(name)?, new.get(name)?);
            if old == new {
                continue;
            }
            let plain = |token: &str| {
                token.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~'))
            };
            if !plain(new) || old.is_empty() || text.matches(old.as_str()).count() != 1 {
                return None;
            }
            text = text.replacen(old.as_str(), new, 1);
        }
        self.is_right(&text, new).then_some(text)
    }

    /// The whole file written anew, as kubectl does.
    fn rewritten(&self, new: &Settings) -> Option<String> {
        let mut text = String::new();
        write_yaml(&self.wanted(new)?, 0, &mut text);
        self.is_right(&text, new).then_some(text)
    }

    /// Whether a text differs from the file only in the tokens.
    fn is_right(&self, text: &str, new: &Settings) -> bool {
        self.wanted(new).is_some_and(|wanted| document(text) == Some(wanted))
    }

    /// The file with the new tokens.
    fn wanted(&self, new: &Settings) -> Option<Value> {
        let mut document = document(&self.text)?;
        let settings = settings_of(&mut document, &self.origin.user)?;
        for name in TOKENS {
            settings[name] = Value::from(new.get(name)?.as_str());
        }
        Some(document)
    }
}

/// A kubeconfig as a document. Read with the types of its fields, so that a password such as `12e5` stays as it is, or
/// else, if that fails, without.
fn document(text: &str) -> Option<Value> {
    match Kubeconfig::from_yaml(text) {
        Ok(typed) => serde_json::to_value(typed).ok(),
        Err(_) => serde_yaml::from_str(text).ok(),
    }
}

/// Writes YAML in which all texts are quoted: what is plain text in YAML 1.2 may be a number or a truth value for
/// kubectl, such as `on`. A parser has limited the depth.
fn write_yaml(value: &Value, indent: usize, text: &mut String) {
    let margin = " ".repeat(indent);
    let mut write = |head: &str, value: &Value, is_item: bool| {
        let is_empty = match value {
            Value::Object(members) => members.is_empty(),
            Value::Array(items) => items.is_empty(),
            _ => true,
        };
        if is_empty {
            text.push_str(&format!("{margin}{head} {value}\n"));
            return;
        }
        let mut inner = String::new();
        write_yaml(value, if is_item || value.is_object() { indent + 2 } else { indent }, &mut inner);
        if is_item {
            // The first line begins beside the dash.
            text.push_str(&format!("{margin}{head} {}", inner.trim_start()));
        } else {
            text.push_str(&format!("{margin}{head}\n{inner}"));
        }
    };
    match value {
        Value::Object(members) => {
            let plain =
                |name: &str| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-') && name.len() > 3;
            for (name, member) in members {
                let head = if plain(name) { format!("{name}:") } else { format!("{}:", Value::from(name.as_str())) };
                write(&head, member, false);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| write("-", item, true)),
        scalar => text.push_str(&format!("{margin}{scalar}\n")),
    }
}

fn settings_of<'a>(document: &'a mut Value, user: &str) -> Option<&'a mut Value> {
    let users = document.get_mut("users")?.as_array_mut()?;
    let user = users.iter_mut().find(|one| one.get("name").and_then(Value::as_str) == Some(user))?;
    user.get_mut("user")?.get_mut("auth-provider")?.get_mut("config").filter(|config| config.is_object())
}

/// Replaces a file as a whole, with its owner and permissions. Where that is impossible, for example because the file
/// is mounted, writes into it, as kubectl does.
fn replace(file: &Path, content: &[u8]) -> io::Result<()> {
    // A link stays one.
    let file = fs::canonicalize(file)?;
    if by_renaming(&file, content).is_ok() {
        return Ok(());
    }
    let mut file = OpenOptions::new().write(true).truncate(true).open(&file)?;
    file.write_all(content)?;
    file.sync_all()
}

fn by_renaming(file: &Path, content: &[u8]) -> io::Result<()> {
    let folder = file.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let metadata = fs::metadata(file)?;
    if metadata.permissions().readonly() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    new.write_all(content)?;
    new.as_file().set_permissions(metadata.permissions())?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, fchown};
        let made = new.as_file().metadata()?;
        if (made.uid(), made.gid()) != (metadata.uid(), metadata.gid()) {
            fchown(new.as_file(), Some(metadata.uid()), Some(metadata.gid()))?;
        }
    }
    new.as_file().sync_all()?;
    new.persist(file).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_anew_says_the_same() {
        let text = "users:\n- name: 'on'\n  user: {auth-provider: {name: oidc, \
                    config: {id-token: a, refresh-token: r}}}\n\
                    - name: b\n  user: {password: 12e5, exec: {command: x, args: [], env: [{name: A, value: 'no'}]}}\n\
                    contexts: []\nclusters:\n- name: c\n  cluster: {insecure-skip-tls-verify: true, extensions: \
                    [{name: \"é\\\n\", extension: {a: [1, [2, {b: null}]], '': 1.5}}]}\n";
        let saved = Saved {
            origin: Origin { file: PathBuf::new(), user: "on".to_owned() },
            text: text.to_owned(),
            lock: PathBuf::new(),
        };
        let new =
            Settings::from([("id-token", "b"), ("refresh-token", "s")].map(|(a, b)| (a.to_owned(), b.to_owned())));
        let written = saved.rewritten(&new).unwrap();
        // kubectl reads YAML 1.1, in which these are no texts unless they are quoted.
        for quoted in ["name: \"on\"", "password: \"12e5\"", "value: \"no\""] {
            assert!(written.contains(quoted), "{written}");
        }
        assert!(written.contains("    auth-provider:\n      config:\n        id-token: \"b\"\n"), "{written}");
        assert!(written.contains("- cluster:\n"), "{written}");
    }
}
