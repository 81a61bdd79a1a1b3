"""Write `docs/reference/`, and say what changed."""

from __future__ import annotations

from tests.reference.pages import FOLDER, PAGES


def main() -> None:
    """A page that stands already as it should is left alone."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in PAGES.items():
        file, made = FOLDER / name, text()
        if not file.exists() or file.read_text("utf-8") != made:
            file.write_text(made, "utf-8")
            print(f"written: docs/reference/{name}")  # noqa: T201  # what it is for


if __name__ == "__main__":
    main()
