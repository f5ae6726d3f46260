"""Stand-ins for other people's programs: they check the arguments that a recipe gives them, and predict something.

Each is one script that is found under the name of the program. It knows which options the program has, refuses all
others, and keeps of training the label that comes first by name and the relations.
"""

import stat
import sys
from pathlib import Path

STAND_IN = r'''#!{python}
import json, os, sys

sys.path.insert(0, {recipes!r})
from text_files import read_columns, read_conllu, write_columns, write_conllu

NAME = os.path.basename(sys.argv[0])


def options(words, valued, flags=(), several=()):
    """Options with a value, without one, and with several; everything else stands in "rest"."""
    found, rest, i = {{}}, [], 0
    while i < len(words):
        word, equals, value = words[i].partition("=")
        if word in valued and equals:
            found[word] = value
        elif words[i] in valued:
            i += 1
            found[words[i - 1]] = words[i]
        elif words[i] in flags:
            found[words[i]] = True
        elif words[i] in several:
            name, found[name] = words[i], []
            while i + 1 < len(words) and not words[i + 1].startswith("-"):
                i += 1
                found[name].append(words[i])
        elif words[i].startswith("-") and len(words[i]) > 1 and not words[i][1:].isdigit():
            sys.exit(f"{{NAME}}: unknown option {{words[i]}}")
        else:
            rest.append(words[i])
        i += 1
    return found, rest


def known(path):
    assert os.path.isfile(path), path
    return path


def learn(model, rows, column):
    """Keep the commonest label."""
    labels = sorted(row[column] for sentence in rows for row in sentence)
    json.dump({{"label": max(labels, key=labels.count)}}, open(model, "w"))


def label_of(model):
    return json.load(open(model))["label"]


def parse(source, output, model):
    """Every word hangs from the first one."""
    relation, sentences = label_of(model), read_conllu(source)
    for sentence in sentences:
        for i, row in enumerate(sentence):
            row[6], row[7] = ("1", relation) if i else ("0", "root")
    write_conllu(output, sentences)


def tagged(path):
    for line in open(path, encoding="utf-8"):
        yield [token.rsplit("_", 1) for token in line.split()]


'''
PROGRAMS = {
    "biaffine-dep": r"""
mode = sys.argv[1]
assert os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] == "1"
common = ["-d", "-t", "-p", "--conf", "-c", "-s"]
if mode == "train":
    flags = ["-b", "--tree", "--punct"]
    found, rest = options(sys.argv[2:], [*common, "--embed", "--train", "--dev", "--test", "--epochs", "--patience"],
                          flags, ["-f"])
    assert rest == [] and found["--embed"] == "" and set(found["-f"]) <= {"tag", "char"}, found
    assert int(found["--epochs"]) and int(found["-s"]) >= 0 and "weight_decay" in open(found["-c"]).read()
    assert known(found["--dev"]) == found["--test"]
    learn(found["-p"], read_conllu(known(found["--train"])), 7)
else:
    assert mode == "predict"
    found, rest = options(sys.argv[2:], [*common, "--data", "--pred"], ["--tree"])
    assert rest == []
    parse(found["--data"], found["--pred"], found["-p"])
""",
    "uuparser": r"""
found, rest = options(sys.argv[1:], ["--outdir", "--trainfile", "--devfile", "--testfile", "--epochs", "--dynet-seed",
                      "--dynet-mem"], ["--predict", "--disable-pred-eval", "--graph-based"])
assert rest == [] and os.path.isdir(found["--outdir"]) and int(found["--dynet-mem"])
model = os.path.join(found["--outdir"], "barchybrid.model")
if "--predict" in found:
    assert found["--disable-pred-eval"]
    parse(found["--testfile"], os.path.join(found["--outdir"], "out.conllu"), model)
else:
    assert int(found["--dynet-seed"]) >= 0 and int(found["--epochs"]) and known(found["--devfile"])
    learn(model, read_conllu(found["--trainfile"]), 7)
""",
    "python": r"""
if sys.argv[1] == "-m":
    module = sys.argv[2]
    valued = ["--mode", "--train_file", "--eval_file", "--shorthand", "--lang", "--seed", "--save_dir", "--save_name",
              "--max_steps", "--eval_interval", "--tag_emb_dim", "--output_file"]
    flags = ["--no_pretrain", "--cpu", "--no_gold_labels", "--no_upos", "--no_xpos"]
    found, rest = options(sys.argv[3:], valued, flags)
    assert rest == [] and found["--no_pretrain"] and found["--cpu"]
    trees = {"stanza.models.tagger": False, "stanza.models.parser": True}[module]
    assert trees == ("--no_upos" in found), found
    model = os.path.join(found["--save_dir"], found["--save_name"])
    if found["--mode"] == "train":
        known(found["--eval_file"])
        learn(model, read_conllu(found["--train_file"]), 7 if trees else 3)
    elif trees:
        assert found["--no_gold_labels"]
        parse(found["--eval_file"], found["--output_file"], model)
    else:
        sentences = read_conllu(found["--eval_file"])
        for row in (row for sentence in sentences for row in sentence):
            row[3] = label_of(model)
        write_conllu(found["--output_file"], sentences)
else:
    # One of our own scripts: its own parser reads the arguments, and the work is done here.
    import importlib.util

    script = importlib.util.spec_from_file_location("script", sys.argv[1])
    module = importlib.util.module_from_spec(script)
    script.loader.exec_module(module)
    trees = "trees" in sys.argv

    def train(arguments):
        assert not getattr(arguments, "tune", "") or known(arguments.tune)
        rows = read_conllu(arguments.train) if trees or arguments.train.endswith(".conllu") else None
        learn(arguments.model, rows or read_columns(arguments.train), (7 if trees else 3) if rows else 1)

    def predict(arguments):
        if trees:
            return parse(arguments.input, arguments.output, arguments.model)
        if arguments.input.endswith(".conllu"):
            sentences = read_conllu(arguments.input)
            for row in (row for sentence in sentences for row in sentence):
                row[3] = label_of(arguments.model)
            return write_conllu(arguments.output, sentences)
        sentences = read_columns(arguments.input)
        assert all(label == "_" for sentence in sentences for _, label in sentence), "gold labels in the input"
        label = label_of(arguments.model)
        write_columns(arguments.output, [[(word, label) for word, _ in sentence] for sentence in sentences])

    if not sys.argv[1].endswith("run_machamp.py"):  # which starts the programs of a repository
        module.train, module.predict = train, predict
    sys.argv = sys.argv[1:]
    module.main()
""",
    "java": r"""
valued = ["-cp", "-lang", "-model", "-params", "-data", "-encoding", "-trainFile", "-tagSeparator", "-arch",
          "-tokenize", "-textFile", "-sentenceDelimiter", "-outputFormat", "-mode", "-c", "-t", "-d", "-m", "-i", "-oe",
          "-format", "-threads"]
flags = [word for word in sys.argv if word.startswith(("-Xmx", "-Dfile.encoding"))]
found, rest = options(sys.argv[1:], valued, flags)
assert known(found["-cp"].rstrip("*"))
if rest == ["opennlp.tools.cmdline.CLI", "POSTaggerTrainer"]:
    lines = open(found["-params"]).read().split("\n")
    assert lines == ["Algorithm=MAXENT", "Iterations=7", "Cutoff=5", ""], lines
    learn(found["-model"], tagged(found["-data"]), 1)
elif rest[:2] == ["opennlp.tools.cmdline.CLI", "POSTagger"]:
    for line in sys.stdin:
        print(" ".join(f"{word}_{label_of(rest[2])}" for word in line.split()))
elif rest == ["edu.stanford.nlp.tagger.maxent.MaxentTagger"]:
    assert found["-tagSeparator"] == "_" and found["-tokenize"] == "false"
    if "-trainFile" in found:
        learn(found["-model"], tagged(found["-trainFile"]), 1)
    else:
        assert found["-outputFormat"] == "slashTags" and found["-sentenceDelimiter"] == "newline"
        for line in open(found["-textFile"], encoding="utf-8"):
            print(" ".join(f"{word}_{label_of(found['-model'])}" for word in line.split()))
elif rest == ["edu.emory.mathcs.nlp.bin.NLPTrain"]:
    assert found["-mode"] == "pos" and known(found["-c"]) and known(found["-d"])
    learn(found["-m"], read_columns(found["-t"]), 1)
else:
    assert rest == ["edu.emory.mathcs.nlp.bin.NLPDecode"] and found["-format"] == "tsv", rest
    import xml.etree.ElementTree as tree

    label = label_of(tree.parse(found["-c"]).find("models/pos").text)
    with open(f"{found['-i']}.{found['-oe']}", "w") as file:
        for sentence in read_columns(found["-i"]):
            for i, (word, _) in enumerate(sentence, 1):
                file.write("\t".join([str(i), word, word.lower(), label, *["_"] * 5]) + "\n")
            file.write("\n")
""",
    "train.py": r"""
found, rest = options(sys.argv[1:], ["--dataset_configs", "--parameters_config", "--device", "--name", "--seed"])
parameters = json.load(open(found["--parameters_config"]))
assert rest == [] and found["--device"] == "-1" and int(found["--seed"]) >= 0
assert known(os.path.join(parameters["transformer_model"], "config.json"))
assert parameters["training"] == {"num_epochs": 7, "kept": "a // b"}, parameters
((_, data),) = json.load(open(found["--dataset_configs"])).items()
((name, task),) = data["tasks"].items()
assert data["word_idx"] == 1 and known(data["dev_data_path"])
assert (name, task["task_type"]) in (("upos", "seq"), ("dependency", "dependency"))
folder = os.path.join("logs", found["--name"], "2020.01.01")
os.makedirs(folder)
column = 7 if name == "dependency" else task["column_idx"]
learn(os.path.join(folder, "model.pt"), read_conllu(data["train_data_path"]), column)
""",
    "predict.py": r"""
found, (model, source, output) = options(sys.argv[1:], ["--device"])
sentences = read_conllu(source)
if any(row[6] != "_" for row in sentences[0]):
    parse(source, output, model)
else:
    for row in (row for sentence in sentences for row in sentence):
        row[3] = label_of(model)
    write_conllu(output, sentences)
""",
    "lapos-learn": r"""
found, rest = options(sys.argv[1:], ["-m"])
assert os.path.isdir(found["-m"])
rows = [[token.rsplit("/", 1) for token in line.split()] for line in open(rest[0])]
learn(os.path.join(found["-m"], "model"), rows, 1)
""",
    "lapos": r"""
found, rest = options(sys.argv[1:], ["-m"], ["-t"])
assert rest == [] and found["-t"]
for line in sys.stdin:
    print(" ".join(f"{word}/{label_of(os.path.join(found['-m'], 'model'))}" for word in line.split()))
""",
    "parsing.py": r"""
names = ("mode config num_epochs batch_size opt learning_rate lr_decay beta1 beta2 eps grad_clip loss_type "
         "warmup_steps reset weight_decay unk_replace beam word_embedding char_embedding train dev test model_path")
valued = [f"--{name}" for name in names.split()]
found, rest = options(sys.argv[1:], valued, ["--remove_cycles"])
assert rest == [] and known(found["--test"]) and found["--opt"] == "adam" and known("parsing.py")
model = os.path.join(found["--model_path"], "model.pt")
if found["--mode"] == "train":
    os.makedirs(found["--model_path"])
    learn(model, read_conllu(found["--train"]), 7)
else:
    assert found["--mode"] == "parse" and found["--remove_cycles"]
    os.makedirs(os.path.join(found["--model_path"], "tmp"))
    output = os.path.join(found["--model_path"], "tmp", "pred_test")
    parse(found["--test"], output, model)
    rows = ["\t".join([*line.split("\t")[:1], "<UNK>", *line.split("\t")[2:8]]) for line in open(output)]
    open(output, "w").write("\n".join(row.rstrip("\n") for row in rows) + "\n")
""",
    "encode_dep2labels.py": r"""
found, rest = options(sys.argv[1:], ["--input", "--output", "--encoding", "--mtl"])
assert rest == [] and found["--mtl"] == "1-task" and found["--encoding"] in ("zero", "2-planar-brackets-propagation")
open(found["--output"], "w").write(open(found["--input"]).read())
""",
    "main.py": r"""
found, rest = options(sys.argv[1:], ["--config"])
settings = dict(line.strip().split("=", 1) for line in open(found["--config"]))
if settings["status"] == "train":
    assert known(settings["train_dir"]) and known(settings["dev_dir"]) and int(settings["iteration"]) == 7
    learn(settings["model_dir"] + ".model", read_conllu(settings["train_dir"]), 7)
    open(settings["model_dir"] + ".dset", "w").close()
else:
    assert settings["status"] == "decode" and known(settings["dset_dir"])
    parse(settings["raw_dir"], settings["decode_dir"], settings["load_model_dir"])
""",
    "decode_labels2dep.py": r"""
found, rest = options(sys.argv[1:], ["--input", "--output", "--encoding", "--conllu_f"])
assert rest == [] and known(found["--conllu_f"])
open(found["--output"], "w").write(open(found["--input"]).read())
""",
}


def make(name: str, path: Path, recipes: Path) -> None:
    """Put the stand-in for a program where it is looked for."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(STAND_IN.format(python=sys.executable, recipes=str(recipes)) + PROGRAMS[name])
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
