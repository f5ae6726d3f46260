"""Make the pages that docs/gallery.md shows, by its own commands: python -m docs.assets.gallery."""

import os
import shutil
import tempfile
from pathlib import Path

from tests.test_docs import run_page

PAGE = Path(__file__).resolve().parents[1] / "gallery.md"
FOLDER = PAGE.with_suffix("")


def main() -> None:
    """Run the commands of the page in an empty folder, and keep the pages that they write beside it."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DEADHEAT_LEDGER"] = str(Path(folder, "ledger.jsonl"))
        run_page(PAGE.read_text(encoding="utf-8"), PAGE.name, Path(folder))
        for page in Path(folder).glob("*.html"):
            FOLDER.mkdir(exist_ok=True)
            shutil.copy(page, FOLDER)


if __name__ == "__main__":
    main()
