"""Metrics by name: names, versions and settings print, parse back, and are refused with what is nearest."""

import inspect
from collections.abc import Iterator

import numpy as np
import pytest

from deadheat.errors import InputError, NameUnknown
from deadheat.metrics import METRICS, Metric
from deadheat.metrics.accuracy import LABELS, PUNCTUATION
from deadheat.metrics.chunking import SCHEMES
from deadheat.metrics.metric import FIELDS, f1
from deadheat.metrics.universal import OFFICIAL
from deadheat.registry import Registry

VALUES: dict[str, tuple[object, ...]] = {
    "labels": tuple(LABELS),
    "punctuation": tuple(PUNCTUATION),
    "scheme": tuple(SCHEMES),
    "column": ("upos", "xpos", "a b"),
    "label": ("", "nsubj:pass", "it's", 'say "hi"', "a)b(", "x=1, y=2", "back\\slash", "two\nlines", "żółw"),
    "subtypes": (False, True),
    "official": (False, True),
}


def calls(name: str) -> Iterator[dict[str, object]]:
    """No settings, every value of every setting, and two values of different settings."""
    known = list(inspect.signature(METRICS[name]).parameters)
    yield {}
    for setting in known:
        for value in VALUES[setting]:
            yield {setting: value}
            for other in known:
                if other != setting:
                    yield {setting: value, other: VALUES[other][-1]}


@pytest.mark.parametrize("name", list(METRICS))
def test_a_metric_with_its_settings_is_printed_and_parsed_back(name: str) -> None:
    for settings in calls(name):
        made = METRICS.make(name, **settings)
        assert METRICS.make(made.name).name == made.name
        assert METRICS.make(made.name).label == made.label
        shown = ", ".join(f"{key}={value!r}" for key, value in settings.items())
        assert METRICS.make(f" {name}({shown}) ").name == made.name
        changed = {
            key for key, value in settings.items() if value != inspect.signature(METRICS[name]).parameters[key].default
        }
        assert (made.name == name) == (not changed), "settings that are as usual are left out"
        assert str(made) == made.name


@pytest.mark.parametrize("name", list(METRICS))
def test_a_name_is_found_without_its_version_and_in_any_case(name: str) -> None:
    base = name.removesuffix(".v1")
    assert METRICS.make(base).name == METRICS.make(base.upper()).name == METRICS.make(f"{base}()").name == name


@pytest.mark.parametrize("name", list(METRICS))
def test_every_metric_has_a_description_and_a_label(name: str) -> None:
    assert (METRICS[name].__doc__ or "").strip().endswith(".")
    settings = {"label": "x"} if name in ("tag.v1", "relation.v1") else {}
    assert METRICS.make(name, **settings).label


def test_no_two_metrics_have_the_same_label() -> None:
    labels = [METRICS.make(name).label for name in METRICS if name not in ("tag.v1", "relation.v1")]
    assert len(set(labels)) == len(labels)


def test_the_thirteen_official_metrics_are_registered_in_the_order_of_the_shared_task() -> None:
    assert [METRICS.make(name).label for name in OFFICIAL] == (
        "Tokens Sentences Words UPOS XPOS UFeats AllTags Lemmas UAS LAS CLAS MLAS BLEX".split()
    )


REFUSED = {
    "lass": "metric 'lass' is unknown; did you mean 'las'?",
    "LAS_SUPAR": "metric 'las_supar' is unknown; did you mean 'las-supar'?",
    "las.v2": "metric 'las.v2' is unknown; did you mean 'las.v1'?",
    "las.v0": "metric 'las.v0' is unknown; did you mean 'las.v1'?",
    "las(subtype=True)": "setting of las.v1 'subtype' is unknown; did you mean 'subtypes'?",
    "uas(subtypes=True)": "setting of uas.v1 'subtypes' is unknown; there are none",
    "las(subtypes=1)": "las.v1: subtypes=1; expected a value like False",
    "las(subtypes='yes')": "las.v1: subtypes='yes'; expected a value like False",
    "las(subtypes=None)": "las.v1: subtypes=None; expected a value like False",
    "chunks(column=['chunk'])": "chunks.v1: column=['chunk']; expected a value like 'chunk'",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_unknown_or_of_the_wrong_kind_is_refused_with_what_was_expected(text: str) -> None:
    with pytest.raises(InputError) as caught:
        METRICS.make(text)
    assert str(caught.value) == REFUSED[text]


@pytest.mark.parametrize(
    "text", ["", "las(", "las)", "las supar", "las.v", "las.1", "las.vx", "żas", "las(subtypes=True"]
)
def test_what_does_not_look_like_a_name_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InputError) as caught:
        METRICS.make(text)
    assert str(caught.value) == f"metric {text!r}; expected a name such as las, las.v1 or las.v1(subtypes=True)"


UNREADABLE = (
    "True",
    "subtypes",
    "subtypes=",
    "subtypes=true",
    "subtypes=True, subtypes=False",
    "subtypes=False)(subtypes=True",
    "subtypes=False).x(subtypes=True",
    "subtypes={[]: 1}",
    "subtypes=open('x')",
    "**{'subtypes': True}",
    "#",
)


@pytest.mark.parametrize("settings", UNREADABLE)
def test_settings_that_cannot_be_read_are_refused_and_never_left_out(settings: str) -> None:
    with pytest.raises(InputError) as caught:
        METRICS.make(f"las({settings})")
    assert str(caught.value) == f"metric {f'las({settings})'!r}: invalid settings; expected name=value, ..."


def test_an_unknown_name_is_an_error_that_holds_what_is_known() -> None:
    with pytest.raises(NameUnknown) as caught:
        METRICS.make("qqq")
    assert (caught.value.kind, caught.value.name) == ("metric", "qqq")
    assert "las-supar" in caught.value.names
    assert str(caught.value).startswith("metric 'qqq' is unknown; expected one of ")


def metric_named(label: str) -> Metric:
    return Metric("", label, lambda pair: np.zeros((len(pair.units), len(FIELDS)), np.int64), f1)


def test_the_newest_version_is_made_unless_another_one_is_named() -> None:
    registry: Registry[Metric] = Registry("metric", "las", made=Metric, group="tests")
    for version in (2, 10, 9):
        registry.add(f"x.v{version}")(lambda version=version: metric_named(f"number {version}"))
    assert (registry.make("x").name, registry.make("x").label) == ("x.v10", "number 10")
    assert (registry.make("x.v2").name, registry.make("x.v2").label) == ("x.v2", "number 2")
    assert registry.make("x.v02").name == "x.v2"
    with pytest.raises(NameUnknown, match=r"metric 'x\.v3' is unknown; did you mean 'x\.v"):
        registry.make("x.v3")


def test_a_name_is_registered_once() -> None:
    registry: Registry[Metric] = Registry("metric", "las", made=Metric, group="tests")
    registry.add("x.v1")(lambda: metric_named("x"))
    with pytest.raises(AssertionError, match=r"x\.v1 is registered twice"):
        registry.add("x.v1")(lambda: metric_named("y"))
