"""Scores of labels, summarised from arrays, and beside them scikit-learn.

    python -m benchmarks.curves [--outputs 50000] [--labels 20] [--rounds 7]

The arrays hold one score for each output and label. What is worked out: the label of each output by its highest score,
the confusion table, the area under each label's ROC curve, its average precision, and the counts at 19 thresholds,
misclassified apart from missed. scikit-learn works out the table and the areas, in the same process, and both must
agree. Times are the best of the rounds, by the wall clock and as processor time. The exit status is 1 where the
summary takes longer than 0.15 s of processor time.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

BUDGET_S = 0.15


def drawn(outputs: int, labels: int) -> Any:
    import numpy as np

    from evaluators.stats.labelled import LabelScores

    draw = np.random.default_rng(7)
    expected = draw.integers(0, labels, outputs)
    raw = draw.normal(size=(labels, outputs))
    raw[expected, np.arange(outputs)] += 1.5
    scores = np.exp(raw)
    return LabelScores(tuple(f"label {place}" for place in range(labels)), scores / scores.sum(0), expected)


def by_scikit_learn(given: Any) -> tuple[Any, list[float], list[float]]:
    from sklearn.metrics import average_precision_score, confusion_matrix, roc_auc_score

    right = [given.expected == place for place in range(len(given.labels))]
    areas = [float(roc_auc_score(each, scores)) for each, scores in zip(right, given.scores, strict=True)]
    precise = [float(average_precision_score(each, scores)) for each, scores in zip(right, given.scores, strict=True)]
    return confusion_matrix(given.expected, given.scores.argmax(axis=0)), areas, precise


def best_of(rounds: int, work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Seconds by the wall clock and of the processor, the least of the rounds, and what came of it."""
    walls, processors = [], []
    for _ in range(rounds):
        wall, processor = time.perf_counter(), time.process_time()
        found = work()
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    return min(walls), min(processors), found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--outputs", type=int, default=50_000)
    parser.add_argument("--labels", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=7)
    asked = parser.parse_args()

    import numpy as np

    from evaluators.stats.labelled import told

    given = drawn(asked.outputs, asked.labels)
    print(f"{asked.outputs:,} outputs × {asked.labels} labels; load {Path('/proc/loadavg').read_text().split()[0]}")
    wall, ours, found = best_of(asked.rounds, lambda: told(given))
    print(f"{'everything, here':<40}{wall * 1000:8.0f} ms wall {ours * 1000:8.0f} ms processor")
    wall, theirs, (table, areas, precise) = best_of(max(1, asked.rounds // 3), lambda: by_scikit_learn(given))
    print(f"{'table and areas, scikit-learn':<40}{wall * 1000:8.0f} ms wall {theirs * 1000:8.0f} ms processor")
    agrees = (
        (found.confusion[:, :-1] == table).all()
        and np.allclose(found.auc, areas)
        and np.allclose(found.average_precision, precise)
    )
    print(f"the same results: {'yes' if agrees else 'NO'}; {theirs / ours:.0f} times as fast")
    return 0 if agrees and ours <= BUDGET_S else 1


if __name__ == "__main__":
    sys.exit(main())
