"""What is paid back for withheld amounts: in 64 bits as in Python's integers."""

import numpy as np

from prefixplace_opt.certificates.withheld import paid_back


def test_both_kinds_of_integers_agree():
    rng = np.random.default_rng(0)
    for _ in range(200):
        chunks, rows, workers = rng.integers(1, 5), rng.integers(0, 4), rng.integers(1, 6)
        gains = rng.integers(0, 50, (chunks, rows, workers))
        amounts = rng.integers(0, 80, (chunks, workers))
        found = paid_back(gains, amounts)
        assert found.tolist() == paid_back(gains.astype(object), amounts.astype(object)).tolist()


def test_by_hand():
    # Alone they claim 5 and 4; together 9 less the overlap of 3.
    assert paid_back(np.array([[[6, 3]]]), np.array([[5, 4]])).tolist() == [6]
