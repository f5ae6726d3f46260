"""Simulated answers of models to the items of benchmarks, with known true accuracy, and logs of evaluations.

Whether a model answers an item right depends on its skill, on the difficulty of the item, and on what is peculiar to
the model on a passage and on an item. Each attempt is drawn anew. Two models of the same skill have the same true
accuracy, and differ on any sample of passages and items.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256

from deadheat.testbed.rng import STANDARD_NORMAL, Rng

DATE = "2026-01-05T09-30-00.000000"
QUANTILES = 2000  # of the normal distribution, over which true accuracies are averaged


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A task: its items, what they belong to, and how often each is asked. Standard deviations are in logits."""

    name: str
    items: int
    passages: int = 0  # of which each has as many items as the others; 0: items are independent
    attempts: int = 1
    difficulty_sd: float = 1.5
    passage_sd: float = 0.6  # of what is peculiar to a model on a passage
    item_sd: float = 0.8  # likewise on an item

    def passage(self, item: int) -> int:
        """The passage that an item belongs to."""
        return item * self.passages // self.items

    @property
    def spread(self) -> float:
        """The standard deviation over items of the log odds that a model is right."""
        parts = (self.difficulty_sd, self.item_sd, self.passage_sd * bool(self.passages))
        return math.hypot(*parts)


@dataclass(frozen=True, slots=True)
class Model:
    """A model whose skill is the log odds that it answers an item of average difficulty."""

    name: str
    skill: float

    def accuracy(self, benchmark: Benchmark) -> float:
        """The true accuracy: that over all items of all passages there could be."""
        quantiles = (STANDARD_NORMAL.inv_cdf((i + 0.5) / QUANTILES) for i in range(QUANTILES))
        return math.fsum(_probability(self.skill + benchmark.spread * z) for z in quantiles) / QUANTILES


BENCHMARKS = (
    Benchmark("passages", items=150, passages=15),
    Benchmark("sums", items=250),
    Benchmark("steps", items=80, attempts=4),
)
MODELS = (Model("alpha", 1.4), Model("beta", 0.7), Model("gamma", 0.7))
"""`beta` and `gamma` are equally good."""


def answers(benchmark: Benchmark, model: Model, *, seed: int = 0) -> list[list[bool]]:
    """Whether each item is answered right, for each attempt."""
    items, own = Rng("items", benchmark.name, seed), Rng("answers", benchmark.name, model.name, seed)
    difficulties = [benchmark.difficulty_sd * items.normal() for _ in range(benchmark.items)]
    passages = [benchmark.passage_sd * own.normal() for _ in range(benchmark.passages)]
    chances = []
    for item, difficulty in enumerate(difficulties):
        peculiar = benchmark.item_sd * own.normal() + (passages[benchmark.passage(item)] if passages else 0.0)
        chances.append(_probability(model.skill - difficulty + peculiar))
    return [[own.happens(chance) for chance in chances] for _ in range(benchmark.attempts)]


def evaluation_files(
    benchmarks: Sequence[Benchmark] = BENCHMARKS, models: Sequence[Model] = MODELS, *, seed: int = 0
) -> Iterator[tuple[str, str]]:
    """Names and contents of files: a table of all answers, logs as two harnesses write them, true accuracies."""
    results = {(task.name, model.name): answers(task, model, seed=seed) for task in benchmarks for model in models}
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    rows.writerow(["task", "item", "passage", "epoch", "model", "correct"])
    for task in benchmarks:
        for model in models:
            for epoch, right in enumerate(results[task.name, model.name], start=1):
                for item, correct in enumerate(right):
                    rows.writerow(
                        [task.name, f"q{item:03}", _passage_name(task, item), epoch, model.name, int(correct)]
                    )
    yield "items.csv", table.getvalue()
    for model in models:
        for task in benchmarks:
            attempts = results[task.name, model.name]
            if task.attempts == 1:
                yield f"lm_eval/{model.name}/samples_{task.name}_{DATE}.jsonl", _lm_eval_samples(task, attempts[0])
            yield f"inspect/{DATE[:19]}_{task.name}_{model.name}.json", _inspect_log(task, model, attempts)
        yield f"lm_eval/{model.name}/results_{DATE}.json", _lm_eval_results(benchmarks, model, results)
    truth = {model.name: {task.name: model.accuracy(task) for task in benchmarks} for model in models}
    document = {"seed": seed, "benchmarks": [asdict(task) for task in benchmarks], "truth": truth}
    yield "truth.json", json.dumps(document, indent=2) + "\n"


def _passage_name(task: Benchmark, item: int) -> str:
    return f"p{task.passage(item):02}" if task.passages else f"q{item:03}"


def _lm_eval_samples(task: Benchmark, right: Sequence[bool]) -> str:
    """One line for each item."""
    lines = []
    for item, correct in enumerate(right):
        question = f"{task.name}: question {item}?"
        document = {"passage_id": _passage_name(task, item), "question": question, "answer": str(item)}
        answer = str(item if correct else item + 1)
        sample = {
            "doc_id": item,
            "doc": document,
            "target": str(item),
            "arguments": {"gen_args_0": {"arg_0": question}},
            "resps": [[answer]],
            "filtered_resps": [answer],
            "filter": "none",
            "metrics": ["exact_match"],
            "doc_hash": _hash(json.dumps(document)),
            "prompt_hash": _hash(question),
            "target_hash": _hash(str(item)),
            "exact_match": float(correct),
        }
        lines.append(json.dumps(sample) + "\n")
    return "".join(lines)


def _lm_eval_results(
    benchmarks: Sequence[Benchmark], model: Model, results: dict[tuple[str, str], list[list[bool]]]
) -> str:
    once = [task for task in benchmarks if task.attempts == 1]
    means = {task.name: sum(results[task.name, model.name][0]) / task.items for task in once}
    document = {
        "results": {name: {"alias": name, "exact_match,none": mean} for name, mean in means.items()},
        "group_subtasks": {},
        "higher_is_better": {name: {"exact_match": True} for name in means},
        "versions": dict.fromkeys(means, 1.0),
        "n-samples": {task.name: {"original": task.items, "effective": task.items} for task in once},
        "config": {"model": "simulated", "model_args": ""},
        "model_name": model.name,
    }
    return json.dumps(document, indent=2) + "\n"


def _inspect_log(task: Benchmark, model: Model, attempts: Sequence[Sequence[bool]]) -> str:
    metrics = [{"name": "inspect_ai/accuracy", "options": {}}]
    metrics.append({"name": "inspect_ai/stderr", "options": {"cluster": "passage"} if task.passages else {}})
    samples = [
        {
            "id": f"q{item:03}",
            "epoch": epoch,
            "input": f"{task.name}: question {item}?",
            "target": str(item),
            "metadata": {"passage": _passage_name(task, item)} if task.passages else {},
            "scores": {"match": {"value": "C" if correct else "I"}},
        }
        for epoch, right in enumerate(attempts, start=1)
        for item, correct in enumerate(right)
    ]
    evaluation = {
        "run_id": _hash(f"{task.name} {model.name}")[:22],
        "task": task.name,
        "model": f"simulated/{model.name}",
        "created": "2026-01-05T09:30:00+00:00",
        "dataset": {"name": task.name, "samples": task.items},
        "config": {"epochs": task.attempts},
        "scorers": [{"name": "match", "options": {}, "metrics": metrics}],
    }
    right, number = sum(map(sum, attempts)), task.items * task.attempts
    score = {"name": "match", "scorer": "match", "metrics": {"accuracy": {"name": "accuracy", "value": right / number}}}
    results = {"total_samples": number, "completed_samples": number, "scores": [score]}
    log = {"version": 2, "status": "success", "eval": evaluation, "results": results, "samples": samples}
    return json.dumps(log) + "\n"


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _probability(log_odds: float) -> float:
    return 1 / (1 + math.exp(-log_odds))
