"""Which paths hold secrets and which steer the machine, judged by name alone."""

import os
import re

import msgspec

LONGEST = 4_096

# Patterns are text: they are compiled when the first path is judged, not at every start.
_KEYS_IN_HOME = (
    r"\.(?:aws/credentials|pgpass|git-credentials|npmrc|pypirc|docker/config\.json|kube/config|my\.cnf"
    r"|config/gh/hosts\.yml|config/gcloud/.*|azure/.*|gnupg/.*|password-store/.*|bash_history|zsh_history)"
)
_NOT_A_KEY = r"\.ssh/(?:.*\.pub|known_hosts.*|config|authorized_keys)"
_KEY_FILES = r"[._]netrc|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|\.env(?:\.[\w.-]+)?|.*\.p12|.*\.pfx"
_TEMPLATES = r"\.env\.(?:example|sample|template|dist|defaults?)"
_PROCESS_ENVIRONMENT = r"/proc/.*/environ"
_SHADOW = frozenset(("/etc/shadow", "/etc/gshadow", "/etc/sudoers"))
_START_FILES = (
    r"\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout"
    r"|kshrc|cshrc|tcshrc|login|inputrc|xinitrc|xprofile|gitconfig|vimrc|config/git/.*|config/fish/.*"
    r"|config/autostart/.*|config/systemd/.*|local/share/applications/.*)|library/launchagents/.*"
)
_SYSTEM = (
    r"/(?:etc|usr|bin|sbin|lib|lib32|lib64|boot|sys|proc|opt|root/\.\w+|var/(?:lib|spool|log|www|run|cache)|run"
    r"|system|library|applications|private/etc)(?:/.*)?"
)
_CRON = r"/(?:etc/cron[\w.]*|etc/anacrontab|var/spool/(?:cron|at)|var/cron)(?:/.*)?"


class Places(msgspec.Struct, frozen=True):
    """Where a run is: the folder it works in, the user's home, and the home of Hermes."""

    folder: str
    home: str
    own: str
    here: str = ""
    """Where relative paths start when it is not the folder: a command may have gone elsewhere."""

    def absolute(self, path: str) -> str:
        """A path as written, in full: `~` is the home, a relative one starts in the folder."""
        if path == "~" or path.startswith("~/"):
            path = self.home + path[1:]
        return _plain(os.path.join(self.here or self.folder, path))

    def holds(self, path: str) -> bool:
        """Whether a path is in the folder of the run."""
        return _is_in(path, self.folder)

    def is_strangers(self, path: str) -> bool:
        """Whether what is there came from the web: the pages that Hermes keeps."""
        return _is_in(path, os.path.join(self.own, "cache"))

    def secret(self, path: str) -> str | None:
        """Why reading an absolute path needs consent, or None."""
        folded = _folded(path)
        name = os.path.basename(folded)
        inside = self._in_home(folded)
        if _fits(_PROCESS_ENVIRONMENT, folded) or folded in _SHADOW:
            return "it holds secrets of this machine"
        if folded in (f"{self.own}/.env".casefold(), f"{self.own}/config.yaml".casefold()):
            return "it holds the keys of Hermes"
        if inside.startswith(".ssh/") and not _fits(_NOT_A_KEY, inside):
            return "it is a private key"
        if _fits(_KEYS_IN_HOME, inside) or (_fits(_KEY_FILES, name) and not _fits(_TEMPLATES, name)):
            return "it may hold keys or passwords"
        return None

    def guarded(self, path: str) -> str | None:
        """Why changing an absolute path needs consent wherever the run works, or None."""
        folded = _folded(path)
        inside = self._in_home(folded)
        if _is_in(folded, self.own.casefold()):
            return "it belongs to Hermes itself"
        if inside.startswith(".ssh/"):
            return "it decides who may log in"
        if _fits(_CRON, folded):
            return "it says what runs by itself"
        if _fits(_START_FILES, inside):
            return "it is run or read when a program starts"
        if _is_hook(folded):
            return "git runs it by itself"
        if _fits(_SYSTEM, folded) and not self.holds(path):
            return "it belongs to the system"
        return self.secret(path)

    def _in_home(self, folded: str) -> str:
        """The rest of a path below the home, empty when it is not there."""
        home = self.home.casefold().rstrip("/") + "/"
        return folded[len(home) :] if folded.startswith(home) else ""


def _is_hook(path: str) -> bool:
    """Whether git or its helpers run what is there, or read it to know what to run."""
    of_module = path.partition("/.git/modules/")[2]
    in_hooks = "/.git/hooks/" in path or "/.husky/" in path or "/hooks/" in of_module
    return in_hooks or path.endswith("/.git/config")


def _folded(path: str) -> str:
    # No system opens a longer path, and a pattern would be long about it.
    return path[:LONGEST].casefold()


def _fits(pattern: str, text: str) -> bool:
    return re.fullmatch(pattern, text, re.DOTALL) is not None


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _plain(path: str) -> str:
    # POSIX keeps two leading slashes apart from one; the kernel does not.
    normal = os.path.normpath(path)
    return normal[1:] if normal.startswith("//") else normal
