"""The best of a method is chosen fairly, and the table says on what grounds."""

import unittest

from bench.cluster.training import choice
from bench.cluster.training import grid
from bench.cluster.training import results
from bench.cluster.training import table

ALONE = grid.Cell('synchronous', 'preset', 1, 12, 'adamw', 4e-3, 1, 'scratch',
                  0.0, 960)
DILOCO = ALONE._replace(method='diloco', replicas=2)
LATE = DILOCO._replace(method='late', exchange=0.25)


def of(*found):
    """Records of (cell, changes, loss); a loss of None diverged."""
    made = {}
    for cell, changes, loss in found:
        cell = cell._replace(**changes)
        made[cell] = {
            **grid.facts(cell), 'reason': '', 'loss': loss, 'took_s': 1.0,
            'status': results.DONE if loss else results.DIVERGED,
            'late_steps': [0.0] if cell.exchange == 0 else [7.0, 9.0]}
    return {grid.key(one): one for one in made.values()}


def only(records, method):
    found = [(group, one) for group, one in choice.best(records).items()
             if group.method == method]
    assert len(found) == 1, found
    return found[0][1]


class ChoiceTest(unittest.TestCase):

    def test_the_median_over_seeds_decides(self):
        found = only(of((DILOCO, {'seed': 1, 'rate': 2e-3}, 1.0),
                        (DILOCO, {'seed': 2, 'rate': 2e-3}, 1.9),
                        (DILOCO, {'seed': 3, 'rate': 2e-3}, 1.8),
                        (DILOCO, {'seed': 1}, 1.6),
                        (DILOCO, {'seed': 2}, 1.7),
                        (DILOCO, {'seed': 3}, 1.75)), 'diloco')
        self.assertEqual((found.rate, found.losses),
                         (4e-3, {1: 1.6, 2: 1.7, 3: 1.75}))

    def test_settings_compete_as_rates_do(self):
        found = only(of((DILOCO, {}, 1.6),
                        (DILOCO, {'setting': 'momentum_0.5'}, 1.5)), 'diloco')
        self.assertEqual(found.setting, 'momentum_0.5')

    def test_only_seeds_that_all_have_decide(self):
        # Seed 2 is the harder one, and one rate has not trained on it yet.
        found = only(of((DILOCO, {'seed': 1}, 1.5), (DILOCO, {'seed': 2}, 2.0),
                        (DILOCO, {'seed': 1, 'rate': 2e-3}, 1.6)), 'diloco')
        self.assertEqual((found.rate, found.losses),
                         (4e-3, {1: 1.5, 2: 2.0}))

    def test_what_diverges_is_not_the_best_and_is_told(self):
        found = only(of((DILOCO, {'rate': 8e-3}, None), (DILOCO, {}, 1.6)),
                     'diloco')
        self.assertEqual(found.rate, 4e-3)
        self.assertEqual(found.failed,
                         [('diverged', 8e-3, 'preset', 1, '')])

    def test_a_ratio_is_to_the_same_seed_at_the_best_synchronous_rate(self):
        found = only(of((ALONE, {'rate': 2e-3}, 1.25), (ALONE, {}, 1.0),
                        (ALONE, {'seed': 2, 'rate': 2e-3}, 1.5),
                        (ALONE, {'seed': 2}, 1.2),
                        (DILOCO, {}, 1.1), (DILOCO, {'seed': 2}, 1.8),
                        (DILOCO, {'seed': 3}, 1.3)), 'diloco')
        self.assertEqual(found.ratios, {1: 1.1, 2: 1.8 / 1.2})

    def test_a_ratio_is_to_the_synchronous_run_of_its_optimizer_and_start(self):
        for name, value in (('optimizer', 'muon'), ('start', 'trained'),
                            ('steps', 192)):
            found = only(of((ALONE, {}, 1.0), (DILOCO, {name: value}, 1.1)),
                         'diloco')
            self.assertEqual(found.ratios, {}, name)

    def test_methods_links_and_replicas_are_chosen_for_apart(self):
        found = choice.best(of(
            (LATE, {}, 1.5), (LATE, {'exchange': 0.5}, 1.6),
            (LATE, {'replicas': 4}, 1.7), (LATE, {'tau': 48}, 1.8)))
        self.assertEqual(sorted(one.losses[1] for one in found.values()),
                         [1.5, 1.6, 1.7, 1.8])


class TableTest(unittest.TestCase):

    def lines(self, records):
        return [line for line in table.text(records).splitlines() if line]

    def line(self, records, method):
        return next(line for line in self.lines(records)
                    if line.startswith(f'| {method} '))

    def test_a_line_has_spread_seeds_ratio_rate_and_lateness(self):
        records = of((ALONE, {}, 2.0), (ALONE, {'seed': 2}, 2.0),
                     *((LATE, {'rate': rate, 'seed': seed}, loss + seed / 10)
                       for rate, loss in ((2e-3, 2.5), (4e-3, 2.1), (8e-3, 2.4))
                       for seed in (1, 2)))
        self.assertEqual(
            self.line(records, 'late'),
            '| late | 2 | 2.250 (2.200 to 2.300) | 2 | 1.125 (1.100 to 1.150) '
            '| 0.004 | preset | 8.0 (7.0 to 9.0) |')

    def test_a_choice_by_fewer_seeds_is_told(self):
        cells = [(DILOCO, {}, 1.5), (DILOCO, {'seed': 2}, 2.0),
                 (DILOCO, {'rate': 8e-3}, 1.6)]
        self.assertIn('| 2, chosen by 1 |', self.line(of(*cells), 'diloco'))
        self.assertIn('| 2 |', self.line(of(*cells, (
            DILOCO, {'rate': 8e-3, 'seed': 2}, 2.1)), 'diloco')[10:])

    def test_a_best_rate_at_the_edge_is_marked(self):
        def rate_of(*losses):
            return self.line(of(*(
                (DILOCO, {'rate': rate}, loss)
                for rate, loss in zip(grid.RATES, losses))), 'diloco')
        self.assertIn('| **0.004**, at the edge |', rate_of(1, 2, 3))
        self.assertIn('| 0.008 |', rate_of(2, 1, 3))
        self.assertIn('| **0.016**, at the edge |', rate_of(3, 2, 1))
        self.assertIn('| 0.004, the only one |', rate_of(1))

    def test_a_method_that_waits_stands_beside_each_link(self):
        text = table.text(of((ALONE, {}, 1.0), (DILOCO, {}, 1.1),
                             (LATE, {}, 1.2), (LATE, {'exchange': 1.0}, 1.3)))
        self.assertEqual(text.count('| synchronous |'), 2)
        self.assertEqual(text.count('| diloco |'), 2)
        self.assertEqual(text.count('| late |'), 2)
        self.assertIn('tau 12, an exchange takes 0.25 of a round:', text)

    def test_a_synchronous_run_without_company_is_shown(self):
        self.assertIn('| synchronous | 1 | 1.000 |',
                      table.text(of((ALONE, {}, 1.0))))

    def test_what_has_no_loss_is_shown_with_its_reason(self):
        records = of((ALONE, {}, 1.0), (DILOCO, {}, 1.5))
        broken = next(one for one in records.values()
                      if one['cell']['method'] == 'diloco')
        broken.update(status=results.REFUSED, reason='outer.momentum: no')
        text = table.text(records)
        self.assertIn('- refused: diloco, 2 replicas, adamw, rate 0.004, '
                      'preset, seed 1: outer.momentum: no', text)
        self.assertIn('| diloco | 2 | no cell has a loss |', text)

    def test_cells_of_different_programs_are_told(self):
        records = of((ALONE, {}, 1.0), (DILOCO, {}, 1.5))
        for number, one in enumerate(records.values()):
            one['programs'] = str(number)
        self.assertIn('made with 2 builds of the programs', table.text(records))

    def test_rows_compare_a_loss_with_the_synchronous_one(self):
        rows = table.rows(of((ALONE, {}, 1.0), (LATE, {}, 1.5)))
        self.assertEqual(rows, [
            {'name': 'late/2/adamw/scratch/steps_960/tau_12/exchange_0.25',
             'unit': 'nats/token', 'value': 1.5, 'against': 'synchronous',
             'against_value': 1.0},
            {'name': 'synchronous/1/adamw/scratch/steps_960',
             'unit': 'nats/token', 'value': 1.0}])

    def test_the_plan_says_what_is_left_and_how_long_it_should_take(self):
        cells = [DILOCO, DILOCO._replace(seed=2), DILOCO._replace(seed=3)]
        records = of((DILOCO, {}, 1.5))
        next(iter(records.values()))['took_s'] = 1800.0
        lines = table.plan(cells, records).splitlines()
        self.assertEqual([line.endswith('to do') for line in lines[1:4]],
                         [False, True, True])
        self.assertEqual(lines[4:], [
            '1 of 3 cells are done',
            'the rest should take 1.0 hours, by cells that are measured'])


if __name__ == '__main__':
    unittest.main()
