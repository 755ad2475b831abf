"""Write what is made from the code and by running it: `python -m manual`."""

import sys

from manual.files import FOLDER, made
from manual.transcripts import PAGES, recorded


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    wanted = made()
    for old in FOLDER.iterdir():
        if old.name not in wanted:
            old.unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    for page in PAGES:
        page.write_text(recorded(page.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stderr.write(f"wrote {len(wanted)} files of {FOLDER.name} and {len(PAGES)} with transcripts\n")


if __name__ == "__main__":
    main()
