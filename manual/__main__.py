"""Write what is made from the code: `python -m manual`."""

import sys

from manual.files import FOLDER, made


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    wanted = made()
    for old in FOLDER.iterdir():
        if old.name not in wanted:
            old.unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    sys.stderr.write(f"wrote {len(wanted)} files to {FOLDER.name}\n")


if __name__ == "__main__":
    main()
