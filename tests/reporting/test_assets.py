"""The script and the style sheet of the page are linted.

oxlint has the rules of ESLint in one program of 6 MB from PyPI, so that no package.json, npm or network is needed.
tinycss2 parses the style sheet, and the browser says which properties and values it knows.
"""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
import tinycss2

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ASSETS = Path(__file__).resolve().parents[2] / "src" / "deadheat" / "reporting" / "assets"
OXLINT = Path(sys.prefix) / "bin" / "oxlint"
SETTINGS = {
    "env": {"browser": True, "es2024": True},
    "categories": {"correctness": "error", "suspicious": "error", "perf": "error"},
    "rules": dict.fromkeys(("eqeqeq", "no-undef", "no-unused-vars", "no-var", "prefer-const"), "error")
    | dict.fromkeys(
        (
            "no-shadow",
            "unicorn/consistent-function-scoping",
            "unicorn/no-array-sort",  # toSorted() is younger than the browsers of some readers
            "unicorn/prefer-add-event-listener",
        ),
        "off",
    ),
}


def lint(script: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    settings = folder / "oxlint.json"
    settings.write_text(json.dumps(SETTINGS))
    command = [str(OXLINT), f"--config={settings}", "--format=unix", str(script)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


class Declaration(NamedTuple):
    selector: str  # with the at-rules around it
    property: str
    value: str
    rule: tuple[int, int]  # its line and column


def declarations(rules: list[tinycss2.ast.Node], context: str = "") -> Iterator[Declaration]:
    """All declarations of a style sheet; wrong syntax is an AssertionError."""
    for rule in rules:
        assert rule.type != "error", f"line {rule.source_line}: {rule.message}"
        prelude = tinycss2.serialize(rule.prelude).strip()
        if rule.type == "at-rule":
            prelude = f"@{rule.at_keyword} {prelude}".strip()
        selector = f"{context} {prelude}".strip()
        if rule.type == "at-rule" and rule.at_keyword in {"media", "supports"}:
            yield from declarations(parse(rule.content), selector)
            continue
        for node in tinycss2.parse_blocks_contents(rule.content, skip_comments=True, skip_whitespace=True):
            assert node.type == "declaration", f"line {node.source_line}: {getattr(node, 'message', node.type)}"
            value = tinycss2.serialize(node.value).strip()
            yield Declaration(selector, node.name, value, (rule.source_line, rule.source_column))


def parse(sheet: str | list[tinycss2.ast.Node]) -> list[tinycss2.ast.Node]:
    return list(tinycss2.parse_rule_list(sheet, skip_comments=True, skip_whitespace=True))


def repeated(sheet: str) -> list[str]:
    """Properties set by two rules with the same selector. Within one rule the first value is for older browsers."""
    distinct = {(one.selector, one.property, one.rule) for one in declarations(parse(sheet))}
    counts = Counter((selector, name) for selector, name, _ in distinct)
    return sorted(f"{selector} {{{name}}}" for (selector, name), count in counts.items() if count > 1)


@pytest.mark.parametrize("name", ["early.js", "page.js"])
def test_the_scripts_pass_the_linter(name: str, tmp_path: Path) -> None:
    result = lint(ASSETS / name, tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("script", "rule"),
    [
        ("(() => { const unused = 1; })();", "no-unused-vars"),
        ("(() => { undefinedName(); })();", "no-undef"),
        ("document.title = 1 == '1';", "eqeqeq"),
        ("var x = 1; document.title = x;", "no-var"),
        ("(() => {", "Expected"),
    ],
)
def test_the_linter_finds_mistakes(script: str, rule: str, tmp_path: Path) -> None:
    path = tmp_path / "script.js"
    path.write_text(script)
    result = lint(path, tmp_path)
    assert result.returncode == 1
    assert rule in result.stdout


def test_the_style_sheet_can_be_parsed_and_sets_nothing_twice() -> None:
    assert repeated((ASSETS / "page.css").read_text()) == []


def test_every_value_of_the_style_sheet_is_known_to_the_browser(browser: "Browser") -> None:
    sheet = list(declarations(parse((ASSETS / "page.css").read_text())))
    pairs = [(one.property, one.value) for one in sheet if not one.property.startswith("--")]
    page = browser.new_page()
    supported = page.evaluate("pairs => pairs.map(([name, value]) => CSS.supports(name, value))", pairs)
    page.close()
    assert len(pairs) > 50
    assert [pair for pair, known in zip(pairs, supported, strict=True) if not known] == []


@pytest.mark.parametrize("sheet", ["a{color}", "a{color:red;:}", "}", "a", "a{b{color:red}}"])
def test_wrong_syntax_is_found(sheet: str) -> None:
    with pytest.raises(AssertionError, match="line 1"):
        list(declarations(parse(sheet)))


def test_a_property_set_twice_is_found() -> None:
    sheet = "a{color:red;top:0}@media print{a{color:red}a{color:blue}}@media screen{a{color:red}}a{left:0;top:1px}"
    assert repeated(sheet) == ["@media print a {color}", "a {top}"]
    assert repeated("a{color:red;color:oklch(1 0 0)}b{color:red}") == []
