"""Real shells complete real lines."""

import shutil
import subprocess
import sys

import pytest

BASH = """
eval "$(hermes completion bash)"
complete -p hermes
for line in "chat -m sco" "config set web.b" "sess"; do
    COMP_WORDS=(hermes $line); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
    _hermes_completion hermes
    printf '%s\\n' "${COMPREPLY[@]}"
done
"""
ZSH = """
autoload -U compinit; compinit -D
eval "$(hermes completion zsh)"
print $_comps[hermes]
"""
FISH = """
hermes completion fish | source
complete --do-complete 'hermes config set web.b'
"""


@pytest.fixture
def shell(hermes, tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "hermes").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hermes "$@"\n')
    (folder / "hermes").chmod(0o755)
    environment = hermes.environment()
    environment["PATH"] = f"{folder}:{environment['PATH']}"

    def call(name, script, *options):
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed")
        ran = subprocess.run(
            [name, *options, "-c", script],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,
        )
        assert ran.stderr == ""
        return ran.stdout.splitlines()

    return call


def test_bash_completes_models_settings_and_commands(shell):
    registered, *words = shell("bash", BASH, "--norc")
    assert "-F _hermes_completion hermes" in registered
    assert "scout/scout-1" in words
    assert words[-2:] == ["web.backend", "sessions"]


def test_zsh_takes_the_script(shell):
    assert shell("zsh", ZSH, "-f") == ["_hermes_completion"]


def test_fish_completes_a_setting(shell):
    assert any(line.startswith("web.backend") for line in shell("fish", FISH, "--no-config"))
