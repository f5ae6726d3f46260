"""Pages that show what comes out of real data are executed where the data are."""

from pathlib import Path

import pytest

from tests.test_docs import PAGES, ROOT, PageError, find_blocks, run_page

# What the pages call the folders, and where the data are.
FOLDERS = {
    "published": "published",
    "scores": "scores",
    "treebanks": "treebanks",
    "gold-pos": "predictions/gold-pos",
    "predicted-pos": "predictions/predicted-pos",
}
STUDIES = sorted((ROOT / "studies").rglob("*.md"))


def needs_data(page: Path) -> bool:
    return any(block.needs_data for block in find_blocks(page.read_text("utf-8"), page.name))


WITH_DATA = [page.relative_to(ROOT).as_posix() for page in [*PAGES, *STUDIES] if needs_data(page)]


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_DATA)
def test_a_page_says_what_comes_out_of_real_data(page: str, shared_data: Path, tmp_path: Path) -> None:
    for name, folder in FOLDERS.items():
        (tmp_path / name).symlink_to(shared_data / folder)
    problem = None
    try:
        run_page((ROOT / page).read_text("utf-8"), page, tmp_path, with_data=True)
    except PageError as error:
        problem = str(error)
    if problem:
        pytest.fail(problem, pytrace=False)


PAGE = """\
<!-- not run: needs scores that are not part of this project -->

```console
$ cat scores.csv
1
```

<!-- not run: it needs a cluster -->
```console
$ false
```
"""


def test_blocks_that_need_data_are_run_only_with_them(tmp_path: Path) -> None:
    assert run_page(PAGE, "page.md", tmp_path) == 0
    (tmp_path / "scores.csv").write_text("1\n")
    assert run_page(PAGE, "page.md", tmp_path, with_data=True) == 1
    (tmp_path / "scores.csv").write_text("2\n")
    with pytest.raises(PageError, match=r"page\.md:4: \$ cat scores\.csv"):
        run_page(PAGE, "page.md", tmp_path, with_data=True)
