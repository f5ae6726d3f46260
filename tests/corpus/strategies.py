"""Corpora for hypothesis: well-formed, and otherwise as odd as files get."""

import unicodedata
from collections.abc import Sequence

from hypothesis import strategies as st

# Characters at which some programs break lines or fields, or which look like syntax.
ODD = "\u2028\u2029\u0085\x0b\x0c\x1c\x1d\x1e\x1f\u00a0\u3000\u200b #_-.=|:/\"'\\%\ufeffé日\u0301\U0001f600"


def strings(forbidden: str, *, least: int = 0, most: int = 12) -> st.SearchStrategy[str]:
    """Text without some characters, and without what would end a line."""
    out = forbidden + "\n\r\0"
    usual = st.characters(codec="utf-8", exclude_characters=out)
    odd = st.sampled_from([character for character in ODD if character not in out])
    return st.text(st.one_of(usual, odd), min_size=least, max_size=most)


def is_word(form: str) -> bool:
    return any(unicodedata.category(character) != "Zs" for character in form)


forms = strings("\t", least=1).filter(is_word)
fields = st.one_of(st.just("_"), strings("\t"))
comments = st.one_of(
    strings("").map(lambda text: "#" + text),
    st.sampled_from(
        ["# newdoc", "# newdoc id = x", "#newdoc", "# newdocs", "# newdoc\u2028", "# newpar", "# text = a\tb"]
    ),
)
newlines = st.sampled_from(["\n", "\r\n"])


@st.composite
def trees(draw: st.DrawFn, words: int) -> list[int]:
    """Heads of a tree: each word hangs from one that comes before it in some order of the words."""
    order = draw(st.permutations(range(1, words + 1)))
    heads = [0] * words
    for i, word in enumerate(order[1:], start=1):
        heads[word - 1] = order[draw(st.integers(0, i - 1))]
    return heads


@st.composite
def sentences(draw: st.DrawFn) -> list[str]:
    """The lines of a sentence, comments first, the empty line last."""
    words = draw(st.integers(1, 6))
    heads = draw(trees(words))
    lines = draw(st.lists(comments, max_size=3))
    covered = 0
    for word in range(words + 1):
        if word:
            columns = [draw(fields) for _ in range(7)]
            lines.append("\t".join([str(word), draw(forms), *columns[:4], str(heads[word - 1]), *columns[4:]]))
        for number in sorted(draw(st.sets(st.integers(1, 12), max_size=2))):
            lines.append("\t".join([f"{word}.{number}", draw(forms), *(["_"] * 6), draw(fields), "_"]))
        if covered <= word < words and draw(st.booleans()):
            covered = draw(st.integers(word + 1, words))
            lines.append("\t".join([f"{word + 1}-{covered}", draw(forms), *(["_"] * 7), draw(fields)]))
    return [*lines, ""]


@st.composite
def conllu(draw: st.DrawFn, newline: st.SearchStrategy[str] = newlines) -> str:
    """A well-formed file, perhaps with comments after its last sentence."""
    many = draw(st.lists(sentences(), max_size=4))
    tail = draw(st.lists(comments, max_size=2))
    end = draw(newline)
    return "".join(line + end for line in [*(line for lines in many for line in lines), *tail])


def without_end(text: str) -> st.SearchStrategy[str]:
    """A file cut off at its end, so that the last word, but not its line end and an empty line, is there."""
    newline = "\r\n" if "\r\n" in text else "\n"
    stem = text.removesuffix(newline * 2)
    return st.sampled_from([stem + newline[:i] for i in range(len(newline) + 1)])


@st.composite
def column_files(draw: st.DrawFn) -> tuple[str, str, list[list[Sequence[str]]]]:
    """A column file, its separator, and the rows of its sentences."""
    separator = draw(st.sampled_from([("tab", "\t"), ("space", " ")]))
    newline = draw(newlines)
    row = st.tuples(
        strings(separator[1], least=1).filter(lambda form: is_word(form) and not form.startswith("-DOCSTART-")),
        *[strings(separator[1])] * draw(st.integers(0, 3)),
    )
    result: list[list[Sequence[str]]] = draw(st.lists(st.lists(row, min_size=1, max_size=4), min_size=1, max_size=4))
    text = ""
    for rows in result:
        for _ in range(draw(st.integers(0, 2))):
            text += draw(st.sampled_from(["-DOCSTART- -X- O", "-DOCSTART-", "-DOCSTART-\t(1)"])) + newline
            text += newline * draw(st.booleans())
        text += "".join(separator[1].join(fields) + newline for fields in rows) + newline
    cut = draw(st.integers(0, 2 * len(newline)))
    return text[: len(text) - cut], separator[0], result


@st.composite
def tagged_files(draw: st.DrawFn) -> tuple[str, str, list[list[tuple[str, str]]]]:
    """Text with a sentence a line, its mark, and the words and tags of its sentences."""
    mark = draw(st.sampled_from("_/|#-\\"))
    newline = draw(newlines)
    spelled = strings(" ", least=1).filter(lambda word: any(unicodedata.category(c) != "Zs" for c in word))
    token = st.tuples(spelled, strings(" " + mark, least=1))
    result = draw(st.lists(st.lists(token, min_size=1, max_size=4), min_size=1, max_size=4))
    lines = [" ".join(word + mark + tag for word, tag in tokens) for tokens in result]
    text = "".join(line + newline for line in lines)
    return text[: len(text) - draw(st.integers(0, len(newline)))], mark, result
