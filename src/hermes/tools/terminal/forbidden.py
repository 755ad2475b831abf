"""What is never run, whoever asks for it: each rule says why, or None."""

import re
from collections.abc import Callable
from itertools import pairwise

from hermes.tools.places import Places
from hermes.tools.terminal.calls import Call, behind

Rule = Callable[[Call, Places], str | None]

_DISK = re.compile(
    r"/dev/(?:(?:sd|hd|vd|xvd)[a-z]\d*|nvme\d+n\d+(?:p\d+)?|r?disk\d+(?:s\d+)?|mmcblk\d+(?:p\d+)?|md\d+|dm-\d+"
    r"|mapper/.+|disk/.+|mem|kmem|port)"
)
_SYSTEM_FOLDERS_WORDS = """
/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /opt /proc /root /run /sbin /srv /sys /usr /var
/usr/bin /usr/lib /usr/lib64 /usr/local /usr/sbin /usr/share /var/lib /var/log /applications
/library /system /users /volumes /private /private/etc /private/var
"""
_SYSTEM_FOLDERS = frozenset(_SYSTEM_FOLDERS_WORDS.split())
_ALL_OF_IT = re.compile(r"[*.]+|\.?\[[^\]]*\]\*?|\.\?\?\*|\{[*.,]+\}")
_GLOB = frozenset("*?[{")
_FIND_TESTS_WORDS = """
-name -iname -path -ipath -regex -iregex -wholename -type -mtime -mmin -atime -amin -ctime -cmin
-newer -size -empty -user -group -perm -maxdepth -nouser -nogroup
"""
_FIND_TESTS = frozenset(_FIND_TESTS_WORDS.split())
_POWER = frozenset(("shutdown", "reboot", "halt", "poweroff"))
_ASKS_ONLY = frozenset(("-c", "--help", "--version"))
_POWER_STATES_WORDS = """
poweroff reboot halt kexec suspend hibernate hybrid-sleep soft-reboot
"""
_POWER_STATES = frozenset(_POWER_STATES_WORDS.split())
_WRITES_ALL = frozenset(("tee", "shred", "truncate", "mv"))
_WRITES_LAST = frozenset(("cp", "install", "rsync"))


def deletes_everything(call: Call, places: Places) -> str | None:
    if removes_folders(call):
        targets = call.operands
    elif call.name == "find" and _find_deletes_all(call):
        targets = tuple(word for word in call.operands if word[:1] in "/~." or "/" in word) or (".",)
    else:
        return None
    ruined = next((target for target in targets if is_vital(target, places)), None)
    return None if ruined is None else f"it deletes `{ruined}` with all that is in it"


def removes_folders(call: Call) -> bool:
    """Whether it is an `rm` that goes down into folders; GNU's takes the beginning of a long option too."""
    spelled = (word for word in call.arguments if word.startswith("--r"))
    return call.name == "rm" and (call.has("rR") or any("--recursive".startswith(word) for word in spelled))


def _find_deletes_all(call: Call) -> bool:
    pairs = pairwise(call.arguments)
    starts_rm = any(flag in ("-exec", "-execdir") and name.endswith("rm") for flag, name in pairs)
    return ("-delete" in call.arguments or starts_rm) and not _FIND_TESTS & set(call.arguments)


def is_vital(target: str, places: Places) -> bool:
    """Whether a path is the root, a folder of the system or the home, or a pattern for what is in it."""
    if target.startswith("~") and "/" not in target[1:].rstrip("/") and target[1:2] not in ("+", "-"):
        return True
    path = places.absolute(target).casefold()
    folder, _, last = path.rpartition("/")
    if _ALL_OF_IT.fullmatch(last) and last not in (".", "..", "..."):
        path = folder or "/"
    home = places.home.casefold()
    first = path[1:].partition("/")[0]
    has_pattern_at_root = bool(_GLOB & set(first))
    return path in _SYSTEM_FOLDERS or has_pattern_at_root or path == home or home.startswith(path + "/")


def makes_filesystem(call: Call, _places: Places) -> str | None:
    is_one = (
        call.name == "mkfs" or call.name.startswith(("mkfs.", "newfs_")) or call.name in ("mke2fs", "wipefs")
    )
    return "it makes a new file system over what is there" if is_one else None


def writes_to_disk(call: Call, places: Places) -> str | None:
    targets = [redirect.target for redirect in call.redirects if ">" in redirect.operator]
    if call.name in _WRITES_ALL:
        targets += call.operands
    elif call.name in _WRITES_LAST:
        targets += call.operands[-1:]
    elif call.name == "dd":
        targets += [word[3:] for word in call.arguments if word.startswith("of=")]
    disk = next((word for word in targets if _DISK.fullmatch(places.absolute(word))), None)
    return None if disk is None else f"it writes over the disk `{disk}`"


def is_fork_bomb(call: Call, _places: Places) -> str | None:
    return "it starts itself again and again until the machine stops" if call.is_recursive else None


def kills_everything(call: Call, _places: Places) -> str | None:
    if call.name == "kill" and call.arguments[-1:] == ("-1",):
        return "it ends every program"
    return "it ends every program" if call.name == "killall5" else None


def ends_machine(call: Call, places: Places) -> str | None:
    reason = "it stops or restarts the machine"
    if call.name in _POWER and not (call.arguments and set(call.arguments) <= _ASKS_ONLY):
        return reason
    if call.name in ("init", "telinit") and call.operands[:1] in (("0",), ("6",)):
        return reason
    if call.name == "systemctl" and set(call.operands[:1]) & _POWER_STATES:
        return reason
    written = (places.absolute(redirect.target) for redirect in call.redirects if ">" in redirect.operator)
    return reason if "/proc/sysrq-trigger" in written else None


def pipes_password(call: Call, _places: Places) -> str | None:
    """A password for `sudo` that stands in the command: guessed, or taken from where it should not be."""
    if call.name != "sudo" or not (call.feeder or call.documents):
        return None
    options = call.arguments[: len(call.arguments) - len(behind(call))]
    takes_it = any(word == "--stdin" or (word[:1] == "-" != word[1:2] and "S" in word) for word in options)
    return "it hands a password to `sudo`" if takes_it else None


FORBIDDEN: tuple[Rule, ...] = (
    deletes_everything,
    makes_filesystem,
    writes_to_disk,
    is_fork_bomb,
    kills_everything,
    ends_machine,
    pipes_password,
)
