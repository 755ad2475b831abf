"""`hermes setup` where something is missing; what it does is in `tests/e2e`."""

import pytest


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ((), "hermes setup --model PROVIDER/MODEL --key-from-env VARIABLE"),
        (("--model", "deepseek"), "`--key-from-env VARIABLE` or `--key-stdin`"),
        (("--model", "depseek"), "did you mean `deepseek`"),
        (("--web-backend", "exxa"), "did you mean `exa`"),
        (("--key-stdin",), "add `--model PROVIDER/MODEL`"),
        (("--model", "deepseek", "--key-from-env", "NOWHERE"), "use `--key-stdin`"),
        (("--model", "deepseek", "--key-stdin"), "pipe it into `hermes setup --key-stdin`"),
    ],
)
def test_what_is_missing_is_said_and_nothing_is_written(home, hermes, words, hint):
    code, out, err = hermes("setup", *words)
    assert (code, out) == (2, "")
    assert hint in err
    assert not (home / "config.yaml").exists()
    assert not (home / ".env").exists()
