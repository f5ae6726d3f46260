"""The pages are executed: what they say a command or a call prints is what it prints."""

import contextlib
import doctest
import io
import os
import re
import subprocess
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
GALLERY = ROOT / "docs" / "gallery.md"  # executed when the site is built: its pages are part of it
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted({*(ROOT / "docs").rglob("*.md")} - {GALLERY})]
# Pages that run whole studies, or many commands.
SLOW_PAGES = re.compile(r"docs/(howto|papers)/|docs/(comparing|ledger|networks|reports|search|studies|tutorial)\.md")
COMMAND_LIMIT_S = 600
# The ledger counts the commands of a page; the count is compared only where a page shows it.
COUNT_OF_EVALUATIONS = "note: ledger: "

FENCE = re.compile(r"(?P<indent> *)(?P<ticks>`{3,})(?P<language>[\w-]*)[^`]*")
FILE_NAME = re.compile(r"# ([\w-]+\.toml)")  # the first line of a file that commands of the page use
NOT_RUN = re.compile(r"\s*<!-- not run\b(:\s*(?P<reason>\S.*?))?\s*-->\s*")
NEEDS_DATA = re.compile(r"needs .+ not part of this project")  # a reason; run by test_docs_with_data where the data are


class PageError(Exception):
    """A page says what is not so, or is not written as the runner needs it."""

    def __init__(self, place: str, problem: str, *, expected: str = "", got: str = "") -> None:
        shown = [f"{place}: {problem}"]
        for title, text in (("expected", expected), ("got", got)):
            if expected or got:
                shown += [f"  {title}:", *(f"    {line}" for line in text.splitlines() or ["(nothing)"])]
        super().__init__("\n".join(shown))


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block; `line` is that of its first line of text."""

    language: str
    lines: tuple[str, ...]
    line: int
    reason: str = ""  # why it is not run

    @property
    def runs(self) -> bool:
        return not self.reason

    @property
    def needs_data(self) -> bool:
        return NEEDS_DATA.fullmatch(self.reason) is not None


def find_blocks(text: str, page: str) -> Iterator[Block]:
    """The fenced blocks of a page in order."""
    lines = text.splitlines()
    reason = ""
    at = 0
    while at < len(lines):
        note, fence = NOT_RUN.fullmatch(lines[at]), FENCE.fullmatch(lines[at])
        at += 1
        if note and not note["reason"]:
            raise PageError(f"{page}:{at}", "a block that is not run needs a reason: <!-- not run: reason -->")
        if fence:
            closing = re.compile(rf" *`{{{len(fence['ticks'])},}}\s*")
            end = next((i for i in range(at, len(lines)) if closing.fullmatch(lines[i])), None)
            if end is None:
                raise PageError(f"{page}:{at}", "this block is never closed")
            body = tuple(line.removeprefix(fence["indent"]) for line in lines[at:end])
            yield Block(fence["language"], body, at + 1, reason)
            at = end + 1
        if note or fence or lines[at - 1].strip():
            reason = note["reason"] if note else ""


def run_page(text: str, page: str, folder: Path, *, with_data: bool = False) -> int:
    """Run the blocks of a page in one folder and one namespace; how many were run.

    `with_data`: also those that need data that are not part of the project, which are then in the folder.
    """
    namespace: dict[str, object] = {"__name__": "__page__"}
    ran = 0
    for block in find_blocks(text, page):
        if not (block.runs or (with_data and block.needs_data)):
            continue
        if block.language == "python":
            run_python(block, page, folder, namespace)
        elif block.language == "console":
            run_console(block, page, folder)
        elif block.language == "toml" and (name := FILE_NAME.fullmatch(block.lines[0])):
            (folder / name[1]).write_text("\n".join(block.lines) + "\n", "utf-8")
        else:
            continue
        ran += 1
    return ran


def run_python(block: Block, page: str, folder: Path, namespace: dict[str, object]) -> None:
    """Execute a block; with prompts, as a doctest."""
    source = "\n".join(block.lines) + "\n"
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        if any(line.startswith(">>> ") for line in block.lines):
            run_doctest(source, block.line, page, namespace)
            return
        try:
            exec(compile("\n" * (block.line - 1) + source, page, "exec"), namespace)
        except Exception as error:
            frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == page]
            line = frames[-1].lineno if frames else getattr(error, "lineno", None) or block.line
            got = "".join(traceback.format_exception_only(error))
            raise PageError(f"{page}:{line}", "the block fails", expected="no error", got=got) from error


def run_doctest(source: str, line: int, page: str, namespace: dict[str, object]) -> None:
    """Compare what each prompt prints with what the page shows."""
    name = f"{page}:{line}"  # of this block alone: doctest looks up the source of a failing function by it
    test = doctest.DocTestParser().get_doctest(source, namespace, name, page, line - 1)
    try:
        doctest.DebugRunner(optionflags=doctest.ELLIPSIS).run(test, clear_globs=False)
    except doctest.DocTestFailure as failure:
        example, got = failure.example, failure.got
    except doctest.UnexpectedException as failure:
        example, got = failure.example, "".join(traceback.format_exception_only(failure.exc_info[1]))
    else:
        namespace.update(test.globs)
        return
    problem = example.source.strip()
    raise PageError(f"{page}:{line + example.lineno}", problem, expected=example.want, got=got)


def run_console(block: Block, page: str, folder: Path) -> None:
    """Give each command to bash and compare what it prints with the lines that follow it."""
    environment = os.environ | {
        "PATH": f"{Path(sys.prefix) / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }
    for command, expected, line in find_commands(block, page):
        place = f"{page}:{line}"
        try:
            done = subprocess.run(
                ["bash", "-o", "pipefail", "-c", command],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=COMMAND_LIMIT_S,
            )
        except subprocess.TimeoutExpired as error:
            raise PageError(place, f"$ {command}: still running after {COMMAND_LIMIT_S} s") from error
        got = [text.rstrip() for text in done.stdout.splitlines()]
        if not any(text.startswith(COUNT_OF_EVALUATIONS) for text in expected):
            got = [text for text in got if not text.startswith(COUNT_OF_EVALUATIONS)]
        shown = {"expected": "\n".join(expected), "got": "\n".join(got)}
        if not matches(expected, got):
            raise PageError(place, f"$ {command}", **shown)
        if done.returncode:
            raise PageError(place, f"$ {command}: ends with exit code {done.returncode}", **shown)


def find_commands(block: Block, page: str) -> Iterator[tuple[str, list[str], int]]:
    """The commands of a console block, each with the output the page shows and its line."""
    found: list[tuple[str, list[str], int]] = []
    for line, text in enumerate(block.lines, block.line):
        if text.startswith("$ "):
            found.append((text[2:], [], line))
        elif not found:
            raise PageError(f"{page}:{line}", "a console block starts with a command: $ ...")
        elif found[-1][0].endswith("\\") and not found[-1][1]:
            command, _, start = found[-1]
            found[-1] = (f"{command}\n{text.removeprefix('> ')}", [], start)
        else:
            found[-1][1].append(text.rstrip())
    yield from found


def matches(expected: list[str], got: list[str]) -> bool:
    """Whether the lines are the same; `...` alone on a line stands for any number of lines."""
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else re.escape(f"{line}\n") for line in expected)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in got)) is not None


def page_parameters() -> Iterator[object]:
    for page in PAGES:
        name = page.relative_to(ROOT).as_posix()
        yield pytest.param(page, id=name, marks=[pytest.mark.slow] if SLOW_PAGES.match(name) else [])


@pytest.mark.parametrize("page", list(page_parameters()))
def test_a_page_says_what_happens(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from deadheat.metrics import METRICS

    monkeypatch.setattr(METRICS, "_factories", dict(METRICS._factories))  # a page may register a metric
    problem = None
    try:
        run_page(page.read_text(), page.relative_to(ROOT).as_posix(), tmp_path)
    except PageError as error:
        problem = str(error)
    if problem:
        pytest.fail(problem, pytrace=False)


GOOD_PAGE = """\
# A page

```python
from pathlib import Path
Path("made.txt").write_text("one\\ntwo\\nthree\\n")
```

- In a list:

  ```console
  $ cat made.txt
  one
  ...
  three
  $ printf '%s\\n' a \\
  >   b; python -c 'import sys; print(sys.prefix)' > prefix.txt
  a
  b
  $ echo "note: ledger: 7 evaluations"
  $ ls no-such-file 2> /dev/null; echo "exit $?"
  exit 2
  ```

```python
>>> first = Path("made.txt").read_text().split()[0]
>>> first
'one'
```

```python
assert first == "one"
```

```toml
this is = not run
```

```toml
# study.toml
seeds = 3
```

<!-- not run: it would never end -->

```console
$ sleep infinity
```

````text
```python
raise SystemExit("inside another block")
```
````
"""


def test_a_good_page_passes(tmp_path: Path) -> None:
    assert run_page(GOOD_PAGE, "good.md", tmp_path) == 5
    assert (tmp_path / "study.toml").read_text() == "# study.toml\nseeds = 3\n"
    assert (tmp_path / "prefix.txt").read_text().strip() == sys.prefix


BAD_PAGES = {
    "other output": (
        "Text\n\n```console\n$ true\n$ echo got; echo more\nexpected\n```\n",
        "bad.md:5: $ echo got; echo more\n  expected:\n    expected\n  got:\n    got\n    more",
    ),
    "missing output": (
        "```console\n$ true\nexpected\n```\n",
        "bad.md:2: $ true\n  expected:\n    expected\n  got:\n    (nothing)",
    ),
    "unexpected output": (
        "```console\n$ echo error >&2\n```\n",
        "bad.md:2: $ echo error >&2\n  expected:\n    (nothing)\n  got:\n    error",
    ),
    "other count of evaluations": (
        "```console\n$ echo 'note: ledger: 2 evaluations'\nnote: ledger: 1 evaluation\n```\n",
        "bad.md:2: $ echo 'note: ledger: 2 evaluations'\n  expected:",
    ),
    "failing command": ("```console\n$ exit 3\n```\n", "bad.md:2: $ exit 3: ends with exit code 3"),
    "failing pipe": ("```console\n$ false | cat\n```\n", "bad.md:2: $ false | cat: ends with exit code 1"),
    "other value": (
        "```python\n>>> x = 1\n>>> x\n2\n```\n",
        "bad.md:3: x\n  expected:\n    2\n  got:\n    1",
    ),
    "exception at a prompt": (
        "```python\n>>> x = 1\n>>> 1 / 0\n```\n",
        "bad.md:3: 1 / 0\n  expected:\n    (nothing)\n  got:\n    ZeroDivisionError: division by zero",
    ),
    "exception in a function": (
        "Text\n\n```python\ndef f():\n    return int('x')\n\nf()\n```\n",
        "bad.md:5: the block fails\n  expected:\n    no error\n  got:\n    ValueError: invalid literal",
    ),
    "exception in a function of an earlier block": (
        "```python\n>>> x = 1\n>>> def f():\n...     return int('x')\n```\n\n```python\n>>> f()\n```\n",
        "bad.md:8: f()\n  expected:\n    (nothing)\n  got:\n    ValueError: invalid literal",
    ),
    "syntax": ("```python\nx = 1\nx +\n```\n", "bad.md:3: the block fails"),
    "no command": ("```console\nmake demo\n```\n", "bad.md:2: a console block starts with a command"),
    "never closed": ("Text\n```python\nx = 1\n", "bad.md:2: this block is never closed"),
    "no reason": (
        "<!-- not run -->\n```python\n1 / 0\n```\n",
        "bad.md:1: a block that is not run needs a reason",
    ),
    "reason too far up": (
        "<!-- not run: long -->\n\nText\n```python\n1 / 0\n```\n",
        "bad.md:5: the block fails",
    ),
    "reason for one block only": (
        "<!-- not run: long -->\n```python\n1 / 0\n```\n```python\n2 / 0\n```\n",
        "bad.md:6: the block fails",
    ),
}


@pytest.mark.parametrize(("text", "message"), BAD_PAGES.values(), ids=BAD_PAGES)
def test_a_bad_page_fails_and_says_where(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(PageError) as failure:
        run_page(text, "bad.md", tmp_path)
    assert str(failure.value).startswith(message)


@pytest.mark.parametrize(
    ("expected", "got", "same"),
    [
        ("", "", True),
        ("a", "a", True),
        ("a", "a b", False),
        ("a.c", "abc", False),
        ("...", "", True),
        ("a ... b", "a b", True),
        ("a ... b", "a x y b", True),
        ("a ... b", "a x b y", False),
        ("... b ...", "a b b c", True),
        ("... d ...", "a b c", False),
    ],
)
def test_three_dots_stand_for_any_lines(expected: str, got: str, *, same: bool) -> None:
    assert matches(expected.split(), got.split()) is same
