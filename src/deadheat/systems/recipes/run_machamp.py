"""MaChAmp from a checkout of its repository: writes its two configurations, trains, and finds the model.

It trains on one task, the column or the trees that are asked for, with any encoder of the Hugging Face library.
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys

from text_files import run

COLUMNS = {"lemma": 2, "upos": 3, "xpos": 4, "feats": 5, "trees": 6}  # from 0, of CoNLL-U
COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*')  # strings may have slashes, too
TASKS = {"trees": "dependency", "lemma": "string2string"}  # of others: seq


def configurations(arguments, folder):
    """The paths of the configurations of the data and of the parameters, which are those of the repository."""
    task = {"task_type": TASKS.get(arguments.predicts, "seq"), "column_idx": COLUMNS[arguments.predicts]}
    name = "dependency" if arguments.predicts == "trees" else arguments.predicts
    paths = {"train_data_path": arguments.train, "dev_data_path": arguments.tune}
    data = {"data": {**paths, "word_idx": 1, "tasks": {name: task}}}
    with open(os.path.join(arguments.repository, "configs", "params.json"), encoding="utf-8") as file:
        parameters = json.loads(COMMENT.sub(lambda match: match[1] or "", file.read()))
    parameters["transformer_model"] = os.path.abspath(arguments.encoder)
    parameters["training"]["num_epochs"] = arguments.epochs
    for name, content in (("data", data), ("parameters", parameters)):
        with open(os.path.join(folder, f"{name}.json"), "w", encoding="utf-8") as file:
            json.dump(content, file, indent=1)
    return os.path.join(folder, "data.json"), os.path.join(folder, "parameters.json")


def start(arguments, script, options, folder):
    """Run a script of the repository; it writes its logs into the current folder."""
    path = os.path.abspath(os.path.join(arguments.repository, script))
    code = subprocess.run([sys.executable, path, *options], cwd=folder).returncode
    if code:
        sys.exit(code if code > 0 else 1)


def train(arguments):
    folder = os.path.abspath(arguments.folder)
    for name in ("train", "tune", "model"):
        setattr(arguments, name, os.path.abspath(getattr(arguments, name)))
    data, parameters = configurations(arguments, folder)
    options = ["--dataset_configs", data, "--parameters_config", parameters, "--device", arguments.device]
    start(arguments, "train.py", [*options, "--name", "run", "--seed", arguments.seed], folder)
    models = glob.glob(os.path.join(folder, "logs", "run", "*", "model*.pt"))
    if not models:
        sys.exit("MaChAmp wrote no model")
    shutil.move(max(models, key=os.path.getmtime), arguments.model)


def predict(arguments):
    paths = [os.path.abspath(path) for path in (arguments.model, arguments.input, arguments.output)]
    start(arguments, "predict.py", [*paths, "--device", arguments.device], os.path.abspath(arguments.folder))


def main():
    training = {
        "train": {},
        "tune": {},
        "model": {},
        "--predicts": {"choices": sorted(COLUMNS), "required": True},
        "--encoder": {"required": True},
        "--epochs": {"type": int, "required": True},
        "--seed": {"required": True},
    }
    both = {name: {"required": True} for name in ("--repository", "--folder", "--device")}
    run(__doc__, train, predict, training, both)


if __name__ == "__main__":
    main()
