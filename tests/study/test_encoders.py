"""Studies of heads on pretrained encoders: what identifies a cell, what is refused, and a study from end to end."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jax", reason="deadheat[neural] is not installed")
pytest.importorskip("tokenizers", reason="deadheat[transformers] is not installed")
pytest.importorskip("safetensors", reason="deadheat[transformers] is not installed")

from deadheat.encoders import source
from deadheat.errors import InputError, StudyError
from deadheat.study.cluster.packing import _files
from deadheat.systems import SYSTEMS
from tests.encoders.tiny import write_encoder
from tests.study.test_stacking import HEAD, OTHER, run_command, study_of

SMALL = {"column": "tag", "encoder": "bert", "batch": 8, "epochs": 4, "rate": 0.05}


def head_on(**changes: Any) -> str:
    settings = "".join(f"{name} = {json.dumps(value)}\n" for name, value in {**SMALL, **changes}.items())
    return f"[[systems]]\nname = 'transformer'\n{settings}"


def test_cells_are_known_by_what_is_in_the_folder_of_the_encoder(tmp_path: Path) -> None:
    write_encoder(tmp_path / "bert")
    first = study_of(tmp_path, head_on(), OTHER).cells
    assert study_of(tmp_path, head_on(), OTHER).cells == first
    write_encoder(tmp_path / "bert", seed=1)
    plan = study_of(tmp_path, head_on(), OTHER)
    others = [cell for cell in plan.cells if cell not in first]
    assert [cell.system for cell in others] == [cell.system for cell in first if "bert" in cell.system]
    assert len(others) == 4
    plan.check_unchanged(others[0])
    write_encoder(tmp_path / "bert", seed=2)
    with pytest.raises(InputError, match=r"encoder of transformer.*: changed while the study was running"):
        plan.check_unchanged(others[0])


def test_word_vectors_and_an_encoder_both_count(tmp_path: Path) -> None:
    write_encoder(tmp_path / "bert")
    (tmp_path / "small.vec").write_text("the 0.1 0.2\n")
    keys = {study_of(tmp_path, head_on(vectors="small.vec")).cells[0].key, study_of(tmp_path, head_on()).cells[0].key}
    (tmp_path / "small.vec").write_text("the 0.1 0.3\n")
    keys.add(study_of(tmp_path, head_on(vectors="small.vec")).cells[0].key)
    assert len(keys) == 3


def test_encoders_that_cannot_be_used_are_refused_with_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_encoder(tmp_path / "bert")
    (tmp_path / "gpt").mkdir()
    (tmp_path / "gpt" / "config.json").write_text('{"model_type": "gpt2"}')
    with pytest.raises(StudyError, match=r"study.toml:\d+: .*gpt: no weights; expected model.safetensors") as error:
        study_of(tmp_path, head_on(encoder=["bert", "gpt", "./nowhere"]))
    assert "nowhere: no such folder" in str(error.value)
    assert len(str(error.value).splitlines()) == 2
    monkeypatch.setattr(source, "PACKAGES", ("no_such_package",))
    with pytest.raises(StudyError, match="encoder 'bert': the package no_such_package is not installed; expected"):
        study_of(tmp_path, head_on())


def test_nodes_of_a_cluster_get_the_files_of_the_encoder(tmp_path: Path) -> None:
    write_encoder(tmp_path / "bert")
    (tmp_path / "bert" / "README.md").write_text("")
    names = {path.name for path in _files(study_of(tmp_path, head_on()), tmp_path) if path.parent.name == "bert"}
    assert names == {"config.json", "tokenizer.json", "model.safetensors"}


@pytest.mark.parametrize(
    ("system", "settings", "message"),
    [
        ("transformer", {"encoder": ""}, "encoder=''; expected the folder of an encoder, or its name"),
        ("transformer", {}, "encoder"),
        ("transformer", {"encoder": "x", "pieces": "last"}, r"transformer.v1: pieces 'last' is unknown"),
        ("transformer", {"encoder": "x", "layers": "first"}, r"transformer.v1: layers 'first' is unknown"),
        ("transformer", {"encoder": "x", "units": "a"}, "units='a'"),
        ("transformer", {"encoder": "x", "decay": 0.0}, "decay=0; expected a share above 0"),
        ("transformer-parser", {"encoder": "x", "tags": "some"}, "tags 'some' is unknown"),
        ("transformer-parser", {"encoder": "x", "arc_size": 0}, "arc_size=0; expected at least 1"),
    ],
)
def test_wrong_settings_are_refused(system: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        SYSTEMS.make(system, **settings)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_a_study_of_heads_on_an_encoder_runs_in_worker_processes(kind: str, tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    write_encoder(tmp_path / "inner" / "bert", kind, text=["the dog cats Big saw 3 run"] * 9)
    head = HEAD.replace("times = 2", "times = 1")
    study_of(tmp_path / "inner", head_on(classifier=["softmax", "crf"], layers="all", epochs=8), OTHER, head=head)
    finished, _ = run_command(tmp_path)
    assert (finished["cells"], finished["missing"], finished["failed"]) == (5, 0, [])
    _, message = run_command(tmp_path)
    assert "0 cells run, 5 already in the store;" in message
