"""What is only run with a person's consent: each rule says why, or None.

A rule's name is its key, by which a consent may last; one about paths gives every path it finds.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

from hermes.tools.places import Places
from hermes.tools.terminal.calls import SHELLS, SPEAKERS, Call, is_unknown, spoken
from hermes.tools.terminal.forbidden import removes_folders
from hermes.tools.terminal.words import Simple

Rule = Callable[[Call, Places], str | None]
PathRule = Callable[[Call, Places], Iterator[tuple[str, str]]]
"""The absolute paths that a call must not touch unasked, each with the reason."""

FETCHERS = frozenset(["curl", "wget", "fetch", "aria2c", "http", "https", "lynx", "nc", "ncat"])
_DATA_ONLY_WORDS = """
ls stat test [ [[ git touch chmod chown find basename dirname export
"""
_DATA_ONLY = SPEAKERS | frozenset(_DATA_ONLY_WORDS.split())
_DATABASES_WORDS = """
psql mysql mariadb sqlite3 sqlcmd duckdb clickhouse-client cqlsh sqlplus
"""
_DATABASES = frozenset(_DATABASES_WORDS.split())
_SQL = re.compile(r"\bdrop\s+(?:table|database|schema|index|view|user|role)\b|\btruncate\s+(?:table\s+)?\w")
_SQL_DELETE = re.compile(r"\bdelete\s+from\s+([^;]{0,2000})")
_INTERPRETERS = re.compile(
    r"(?:python|pypy|perl|ruby|node|nodejs|php|lua|luajit|rscript|osascript|deno|bun|tclsh|pwsh|powershell)[\d.]*"
)
_CODE_FLAGS = re.compile(r"-[a-zA-Z]*[ceEr]|--eval|--execute|--print|-p|eval|-command")
_OPEN_MODES = re.compile(
    r"0?[0-7]?[0-7]{2}[2367]|[2467][0-7]{3}|[ug]*[ao][ugoa]*[+=][rxXst]*w[rwxXst]*|[ugoa]*[+=][rwxX]*s[rwxXst]*"
)
_KILLS = re.compile(r"-(?:s(?:ig)?)?(?:9|kill)", re.I)
_CONTAINER_ENDS = frozenset(["stop", "kill", "rm", "rmi", "restart", "down", "prune", "pause", "remove"])
_SERVICE_ENDS_WORDS = """
stop disable mask kill restart isolate unload bootout remove
"""
_SERVICE_ENDS = frozenset(_SERVICE_ENDS_WORDS.split())
_DISK_TOOLS_WORDS = """
fdisk sfdisk cfdisk gdisk sgdisk parted lvremove vgremove pvremove cryptsetup mkswap
"""
_DISK_TOOLS = frozenset(_DISK_TOOLS_WORDS.split())
_ACCOUNTS_WORDS = """
passwd chpasswd useradd userdel usermod adduser deluser groupadd groupdel groupmod visudo vipw
insmod rmmod modprobe setenforce swapoff
"""
_ACCOUNTS = frozenset(_ACCOUNTS_WORDS.split())
_FIREWALLS: Mapping[str, frozenset[str]] = {
    "iptables": frozenset(("-F", "--flush", "-X", "-P", "--policy", "-D")),
    "ip6tables": frozenset(("-F", "--flush", "-X", "-P", "--policy", "-D")),
    "nft": frozenset(("flush", "delete")),
    "ufw": frozenset(("disable", "reset", "delete")),
    "sysctl": frozenset(("-w", "--write", "-p")),
}
_AWKS = frozenset(("awk", "gawk", "mawk", "nawk"))
_AWK_TEXT = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)', re.DOTALL)
_AWK_STARTS = re.compile(r'\bsystem\s*\(|\|&?\s*""|""\s*\|&?\s*getline')
_CARRIERS = frozenset(("tar", "gtar", "bsdtar", "rsync", "ssh", "scp", "sftp"))
_STARTS_PROGRAMS = (
    *("--checkpoint-action", "--to-command", "--use-compress-program", "--rsh"),
    *("proxycommand=", "-oproxycommand="),
)
_GIT_STEERS = re.compile(
    r"(?:core\.(?:pager|editor|sshcommand|fsmonitor|hookspath|askpass|gitproxy)|alias\..*|credential\..*"
    r"|.*\.(?:textconv|clean|smudge|process|cmd|driver))(?:=.*)?",
    re.I | re.DOTALL,
)
_GIT_VALUED = frozenset(("-C", "-c", "--git-dir", "--work-tree", "--namespace"))


def deletes_folders(call: Call, _places: Places) -> str | None:
    return "it deletes folders with all that is in them" if removes_folders(call) else None


def deletes_many(call: Call, _places: Places) -> str | None:
    if call.name == "find" and "-delete" in call.arguments:
        return "it deletes every file that it finds"
    if call.name in ("rm", "unlink", "shred", "rmdir") and {"find", "xargs", "parallel"} & set(call.through):
        return "it deletes every file that it is given"
    if call.name == "rsync" and any(word.startswith("--del") for word in call.arguments):
        return "it deletes what the other side does not have"
    if call.name == "mv" and "/dev/null" in call.operands[-1:]:
        return "it throws files away"
    return "it destroys the content of files" if call.name == "shred" else None


def opens_to_all(call: Call, _places: Places) -> str | None:
    if call.name == "chmod" and any(_OPEN_MODES.fullmatch(word) for word in call.operands[:1]):
        return "it lets everyone change files, or makes a program run as its owner"
    if call.name == "chown" and call.has("R", "--recursive"):
        return "it changes the owner of whole folders"
    return None


def destroys_data(call: Call, _places: Places) -> str | None:
    if call.name not in _DATABASES:
        return None
    feeding = call.feeder.words if call.feeder else ()
    said = " ".join((*call.arguments, *call.documents, *feeding)).casefold()
    unbounded = any("where" not in found for found in _SQL_DELETE.findall(said))
    return "it deletes data of a database" if unbounded or _SQL.search(said) else None


def changes_guarded(call: Call, places: Places) -> Iterator[tuple[str, str]]:
    """Files that steer the machine or hold keys, written, moved, linked or removed."""
    for target in dict.fromkeys(_changed(call)):
        path = places.absolute(target)
        reason = places.guarded(path)
        if reason:
            yield path, f"it changes `{target}`: {reason}"


def _changed(call: Call) -> Iterator[str]:
    yield from (
        redirect.target for redirect in call.redirects if ">" in redirect.operator and redirect.target
    )
    if call.name in ("tee", "truncate", "rm", "unlink", "touch", "chmod", "chown", "mv", "rmdir"):
        yield from call.operands
    elif call.name in ("cp", "install", "ln", "scp", "rsync"):
        yield from call.operands[-1:]
        yield from _into(call)
    elif _edits_in_place(call):
        yield from call.operands
    elif call.name == "dd":
        yield from (word[3:] for word in call.arguments if word.startswith("of="))
    elif call.name in ("curl", "wget"):
        options = ("-o", "-O", "--output", "--output-document")
        pairs = pairwise(call.arguments)
        yield from (value for option, value in pairs if option in options)


def _edits_in_place(call: Call) -> bool:
    is_editor = call.name in ("sed", "gsed", "perl", "ruby") and call.has("i", "--in-place")
    return is_editor or (call.name in _AWKS and "inplace" in call.arguments)


def _into(call: Call) -> Iterator[str]:
    """The folder that `-t` names, in which the copies get the names they have."""
    pairs = pairwise((*call.arguments, ""))
    folders = [value for option, value in pairs if option in ("-t", "--target-directory")]
    folders += [word.partition("=")[2] for word in call.arguments if word.startswith("--target-directory=")]
    for folder in folders[:1]:
        yield folder
        yield from (f"{folder}/{word.rpartition('/')[2]}" for word in call.operands)


def reads_secret(call: Call, places: Places) -> Iterator[tuple[str, str]]:
    """Files that hold keys or passwords, named as input or as an argument."""
    read = [redirect.target for redirect in call.redirects if redirect.operator.startswith("<")]
    if call.name not in _DATA_ONLY:
        read += [word.rpartition("@")[2].rpartition("=")[2] for word in call.arguments]
    for target in filter(None, dict.fromkeys(read)):
        path = places.absolute(target)
        reason = places.secret(path)
        if reason:
            yield path, f"it reads `{target}`: {reason}"


def runs_what_arrives(call: Call, _places: Places) -> str | None:
    """A shell that reads its commands from a pipe or from another program's output."""
    if call.name not in SHELLS | {"source", "."}:
        return None
    if any(is_unknown(word) for word in call.operands[:1]):
        return "it runs a text that is only known when it runs"
    if {"xargs", "parallel"} & set(call.through) and _is_filled_in(call):
        return "it runs a text that is only known when it runs"
    feeder = call.feeder
    if feeder is None or not call.reads_commands or call.has("c"):
        return None
    if any(word in FETCHERS for word in _pipeline(feeder)):
        return "it runs a program from the network without a look at it"
    text = spoken(feeder)
    return None if text and not is_unknown(text) else "it runs a text that is only known when it runs"


def _is_filled_in(call: Call) -> bool:
    """Whether a shell that is started once for each word it is given runs the word itself."""
    return call.reads_commands or any("{}" in word for word in call.arguments)


def _pipeline(simple: Simple | None) -> Iterator[str]:
    while simple is not None:
        yield from simple.words[:1]
        simple = simple.fed_by


def runs_code(call: Call, _places: Places) -> str | None:
    words = call.arguments
    if call.name in _CARRIERS and any(word.casefold().startswith(_STARTS_PROGRAMS) for word in words):
        return "it starts another program in a way that no rule can read"
    if call.name in _AWKS and any(_AWK_STARTS.search(_AWK_TEXT.sub('""', word)) for word in words):
        return "it runs code that no rule can read"
    if not _INTERPRETERS.fullmatch(call.name):
        return None
    first = next(
        (word for word in call.arguments if not word.startswith("-") or _CODE_FLAGS.fullmatch(word)), ""
    )
    is_fed = bool(call.documents or call.feeder) and not set(call.operands) - {"-"}
    return "it runs code that no rule can read" if is_fed or _CODE_FLAGS.fullmatch(first) else None


def ends_services(call: Call, _places: Places) -> str | None:
    if call.name in ("systemctl", "service", "rc-service", "launchctl", "initctl", "supervisorctl"):
        return "it stops a service" if _SERVICE_ENDS & set(call.operands) else None
    if call.name in ("docker", "podman", "nerdctl", "docker-compose", "kubectl", "lxc"):
        ends = (_CONTAINER_ENDS | {"delete"}) & set(call.operands[:3])
        return "it ends or removes containers" if ends else _reaches_out(call)
    return None


def _reaches_out(call: Call) -> str | None:
    mounts = (word for word in call.arguments if word.startswith("/:") or word.endswith("=/:"))
    is_open = "--privileged" in call.arguments or any(mounts)
    return "it gives a container the whole machine" if is_open else None


def kills(call: Call, _places: Places) -> str | None:
    if call.name not in ("kill", "pkill", "killall"):
        return None
    words = call.arguments
    signal = next((f"-{value}" for flag, value in pairwise(words) if flag in ("-s", "--signal")), "")
    if any(_KILLS.fullmatch(word) for word in (*words, signal)):
        return "it ends a program by force"
    if any(is_unknown(word) for word in words) or any("hermes" in word for word in words):
        return "it may end Hermes itself"
    return None


def loses_git_work(call: Call, _places: Places) -> str | None:
    if call.name != "git":
        return None
    verb, rest = _git_verb(call.arguments)
    lost: Mapping[str, bool] = {
        "reset": "--hard" in rest,
        "push": any(
            word in ("-f", "-d", "--delete", "--mirror") or word.startswith(("--force", "+")) for word in rest
        ),
        "clean": any(word == "--force" or re.fullmatch(r"-[a-eg-zA-Z]*f[a-zA-Z]*", word) for word in rest),
        "branch": "-D" in rest or ("--delete" in rest and "--force" in rest),
        "checkout": bool({"-f", "--force", "--", "."} & set(rest)),
        "restore": not {"--staged", "-S"} & set(rest),
        "switch": bool({"-f", "--force", "--discard-changes"} & set(rest)),
        "worktree": "remove" in rest and bool({"-f", "--force"} & set(rest)),
        "update-ref": "-d" in rest,
        "stash": bool({"drop", "clear"} & set(rest)),
        "reflog": "expire" in rest,
        "filter-branch": True,
    }
    return "it throws away work that git keeps" if lost.get(verb) else None


def steers_git(call: Call, _places: Places) -> str | None:
    """Settings by which git starts programs, given for one call or kept."""
    if call.name != "git":
        return None
    verb, rest = _git_verb(call.arguments)
    given = [value for option, value in pairwise(call.arguments) if option == "-c"]
    if verb == "config" and not {"--get", "--get-all", "--list", "-l"} & set(rest):
        given += rest
        if {"--global", "--system"} & set(rest):
            return "it changes how git works everywhere"
    return "it tells git what to run" if any(map(_GIT_STEERS.fullmatch, given)) else None


def _git_verb(arguments: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    words = iter(enumerate(arguments))
    for at, word in words:
        if word in _GIT_VALUED:
            next(words, None)
        elif not word.startswith("-"):
            return word, arguments[at + 1 :]
    return "", ()


def is_someone_else(call: Call, _places: Places) -> str | None:
    return (
        "it runs with the rights of another user" if call.name in ("sudo", "doas", "su", "pkexec") else None
    )


def changes_disks(call: Call, _places: Places) -> str | None:
    is_list = bool({"-l", "--list", "print"} & set(call.arguments))
    return "it changes disks" if call.name in _DISK_TOOLS and not is_list else None


def changes_machine(call: Call, _places: Places) -> str | None:
    if call.name in _ACCOUNTS:
        return "it changes accounts or the kernel"
    opened = _FIREWALLS.get(call.name, frozenset()) & set(call.arguments)
    return "it changes what the machine lets through" if opened else None


def opens_door(call: Call, _places: Places) -> str | None:
    """A connection that a program is tied to, so that whoever is at its other end may command."""
    if any(redirect.target.startswith(("/dev/tcp/", "/dev/udp/")) for redirect in call.redirects):
        return "it opens a connection from the shell itself"
    if call.name in ("nc", "ncat", "netcat") and call.has("ec", "--exec", "--sh-exec"):
        return "it ties a program to a connection"
    ties = any(word.casefold().startswith(("exec:", "system:")) for word in call.arguments)
    return "it ties a program to a connection" if call.name == "socat" and ties else None


def changes_timetable(call: Call, _places: Places) -> str | None:
    if call.name == "crontab" and call.arguments != ("-l",):
        return "it changes what runs by itself"
    return "it runs something later, unseen" if call.name in ("at", "batch") else None


def has_no_name(call: Call, _places: Places) -> str | None:
    runs_unknown = call.name == "eval" and any(is_unknown(word) for word in call.arguments)
    return "what it runs is only known when it runs" if is_unknown(call.name) or runs_unknown else None


DANGEROUS: tuple[Rule, ...] = (
    is_someone_else,
    deletes_folders,
    deletes_many,
    opens_to_all,
    destroys_data,
    runs_what_arrives,
    runs_code,
    ends_services,
    kills,
    loses_git_work,
    steers_git,
    changes_disks,
    changes_machine,
    opens_door,
    changes_timetable,
    has_no_name,
)

ABOUT_PATHS: tuple[PathRule, ...] = (changes_guarded, reads_secret)
