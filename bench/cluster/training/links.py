"""What an emulated link has to be for an exchange to take a stated time."""

import statistics

# A job that measures a round has rounds of at most so many steps, and at least
# so many steps and rounds.
_PACE_TAU_MAX, _PACE_STEPS, _PACE_ROUNDS_MIN = 48, 144, 4


def pace_rounds(tau):
    """(inner steps a round, rounds) of the job that measures a round."""
    steps = min(tau, _PACE_TAU_MAX)
    return steps, max(_PACE_ROUNDS_MIN, _PACE_STEPS // steps)


def round_s(events, tau):
    """How long a round of `tau` steps takes, by the events of that job."""
    ages_ms = sorted(int(event['age_ms']) for event in events
                     if event['name'] == 'Committed')
    gaps = [b - a for a, b in zip(ages_ms, ages_ms[1:])]
    return statistics.median(gaps) / 1000 * tau / pace_rounds(tau)[0]


def rate_mbit_s(parameters, islands, one_round_s, share):
    """The rate of an island's link at which an exchange in int8 takes `share`
    of a round: contributions to the spans that it owns, and the others'
    results."""
    values = parameters * 2 * (islands - 1) / islands
    return values * 8 / 1e6 / (share * one_round_s)
